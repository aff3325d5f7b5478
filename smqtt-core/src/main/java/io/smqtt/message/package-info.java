// SPDX-License-Identifier: Apache-2.0
/** Application messages and their values. All types are immutable, and their memory is on the heap. */
@NullMarked
package io.smqtt.message;

import org.jspecify.annotations.NullMarked;
