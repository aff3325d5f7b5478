// SPDX-License-Identifier: Apache-2.0
/** Rules: statements that select messages, and actions that write what they make of them to sinks. */
@NullMarked
package io.smqtt.rules;

import org.jspecify.annotations.NullMarked;
