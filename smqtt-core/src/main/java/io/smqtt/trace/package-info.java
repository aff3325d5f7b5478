// SPDX-License-Identifier: Apache-2.0
/** Traces: what happens to one client, to the messages of some topics, or to the clients of one address. */
@NullMarked
package io.smqtt.trace;

import org.jspecify.annotations.NullMarked;
