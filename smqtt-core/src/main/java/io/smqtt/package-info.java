// SPDX-License-Identifier: Apache-2.0
/** The broker as its users embed it: start, stop, publish, subscribe, inspect. */
@NullMarked
package io.smqtt;

import org.jspecify.annotations.NullMarked;
