// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * The versions of retained messages that a cluster keeps, and that are stored with them. The {@code found} methods are called before the
 * cluster starts, by the thread that starts the broker. Must not block.
 */
public interface RetainedVersions {

    /**
     * The version to be stored for a topic.
     *
     * @param topic the topic
     * @param current its message; null if it has none
     * @return the version of the message or of its removal; null if there is none: then a removal leaves nothing in the store
     */
    @AnyThread
    @Nullable
    RetainedVersion of(TopicName topic, @Nullable ApplicationMessage current);

    /**
     * A message was found in the store.
     *
     * @param message the message
     * @param version its version
     */
    void found(ApplicationMessage message, RetainedVersion version);

    /**
     * A removal was found in the store.
     *
     * @param topic the topic, which has no message
     * @param version the version of the removal
     */
    void foundRemoval(TopicName topic, RetainedVersion version);

    /**
     * A note was found in the store.
     *
     * @param name the name of the note
     * @param note what was written last; of the caller
     */
    void foundNote(String name, byte[] note);

    /**
     * The store of another node is about to be read, which this one serves from now on.
     *
     * @param home the other node
     * @return receives its retained messages
     */
    @AnyThread
    RetainedMerge merging(String home);
}
