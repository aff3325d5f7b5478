// SPDX-License-Identifier: Apache-2.0
/** Topic names and topic filters as validated values (MQTT 5.0, section 4.7), and a cursor over their levels. */
@NullMarked
package io.smqtt.topic;

import org.jspecify.annotations.NullMarked;
