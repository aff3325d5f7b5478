// SPDX-License-Identifier: Apache-2.0
/** What survives the broker's process, and what is acknowledged when. */
@NullMarked
package io.smqtt.protocol.durable;

import org.jspecify.annotations.NullMarked;
