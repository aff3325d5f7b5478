// SPDX-License-Identifier: Apache-2.0
/** The interfaces of sinks, to which actions of rules write, and of sources, from which messages come, with the values and templates that they use. */
@NullMarked
package io.smqtt.rules.sink;

import org.jspecify.annotations.NullMarked;
