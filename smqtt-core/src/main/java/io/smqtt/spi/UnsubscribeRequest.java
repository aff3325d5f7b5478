// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/**
 * One filter of an UNSUBSCRIBE (MQTT 5.0, section 3.10.3).
 *
 * @param filter the topic filter, without the share name
 * @param shareName of a shared subscription, or null
 */
public record UnsubscribeRequest(
        TopicFilter filter, @Nullable String shareName) {}
