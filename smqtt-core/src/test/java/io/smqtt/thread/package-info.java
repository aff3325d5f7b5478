// SPDX-License-Identifier: Apache-2.0
/** Threads of tests. */
@NullMarked
package io.smqtt.thread;

import org.jspecify.annotations.NullMarked;
