// SPDX-License-Identifier: Apache-2.0
/** The API for embedding a broker: start, stop, publish, subscribe, inspect. */
@NullMarked
package io.smqtt;

import org.jspecify.annotations.NullMarked;
