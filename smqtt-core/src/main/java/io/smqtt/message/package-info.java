// SPDX-License-Identifier: Apache-2.0
/** Application messages and the values they are made of. Everything here is immutable and owned by the garbage collector. */
@NullMarked
package io.smqtt.message;

import org.jspecify.annotations.NullMarked;
