// SPDX-License-Identifier: Apache-2.0
/** Measures how loaded the broker is, and tells its parts to take less work. */
@NullMarked
package io.smqtt.overload;

import org.jspecify.annotations.NullMarked;
