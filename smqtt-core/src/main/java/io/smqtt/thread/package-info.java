// SPDX-License-Identifier: Apache-2.0
/** Annotations for the threads on which methods may be called; a test over the compiled classes checks them. */
@NullMarked
package io.smqtt.thread;

import org.jspecify.annotations.NullMarked;
