// SPDX-License-Identifier: Apache-2.0
/** Microbenchmarks of the broker. */
@NullMarked
package io.smqtt.benchmark;

import org.jspecify.annotations.NullMarked;
