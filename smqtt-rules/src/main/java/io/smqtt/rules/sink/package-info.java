// SPDX-License-Identifier: Apache-2.0
/** What an action of a rule writes to, and where messages come from: the interfaces of sinks and sources, with the values and templates that they use. */
@NullMarked
package io.smqtt.rules.sink;

import org.jspecify.annotations.NullMarked;
