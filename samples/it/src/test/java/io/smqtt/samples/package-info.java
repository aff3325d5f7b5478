// SPDX-License-Identifier: Apache-2.0
/** The samples, each started as a process. */
@NullMarked
package io.smqtt.samples;

import org.jspecify.annotations.NullMarked;
