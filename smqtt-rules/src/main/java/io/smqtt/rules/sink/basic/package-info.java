// SPDX-License-Identifier: Apache-2.0
/** The sinks that need nothing outside of the broker: publishing again, and the log. */
@NullMarked
package io.smqtt.rules.sink.basic;

import org.jspecify.annotations.NullMarked;
