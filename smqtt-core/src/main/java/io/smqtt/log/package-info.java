// SPDX-License-Identifier: Apache-2.0
/** Limits on how often something is logged: events by key, and conditions that begin and end. */
@NullMarked
package io.smqtt.log;

import org.jspecify.annotations.NullMarked;
