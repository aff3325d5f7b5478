// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The retained messages in the store of another node, which this one serves now, to be merged into those of this node: the later version of each topic
 * stays. Used by one thread at a time; no method blocks.
 */
public interface RetainedMerge {

    /**
     * A message was found. It is dropped at once if this node has the same version or a later one.
     *
     * @param message the message, also of a hidden topic
     * @param version its version; null if it has none: then each version is later
     */
    void found(ApplicationMessage message, @Nullable RetainedVersion version);

    /**
     * The record of a removal was found. It is dropped at once if this node has the same version or a later one.
     *
     * @param topic the topic, which has no message there
     * @param version the version of the removal
     */
    void foundRemoval(TopicName topic, RetainedVersion version);

    /** All were found: those that were not dropped are stored here, some at a time. Called once. */
    void begin();
}
