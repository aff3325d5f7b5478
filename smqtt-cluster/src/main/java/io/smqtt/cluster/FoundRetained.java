// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.RetainedMerge;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The versions of retained messages: holds what the store has until the node starts, and then asks the node. */
final class FoundRetained implements RetainedVersions {

    private static final Logger LOG = LoggerFactory.getLogger(FoundRetained.class);

    // of the thread that starts the broker
    private final IdentityHashMap<ApplicationMessage, RetainedVersion> messages = new IdentityHashMap<>();
    private final Map<String, RetainedVersion> removals = new HashMap<>();
    private byte @Nullable [] note;

    private volatile @Nullable RetainedReplica replica;

    private @Nullable ClusterNode started; // guarded by this

    /** What was found in stores of other nodes before this node has started; guarded by this. */
    private final List<AdoptedRetained> early = new ArrayList<>();

    @Override
    public void found(ApplicationMessage message, RetainedVersion version) {
        messages.put(message, version);
    }

    @Override
    public void foundRemoval(TopicName topic, RetainedVersion version) {
        removals.put(topic.value(), version);
    }

    @Override
    public void foundNote(String name, byte[] content) {
        if (name.equals(RetainedHorizon.NOTE)) {
            note = content;
        }
    }

    @Override
    @AnyThread
    public @Nullable RetainedVersion of(TopicName topic, @Nullable ApplicationMessage current) {
        RetainedReplica known = replica;
        return known == null ? null : known.versionOf(topic.value(), current);
    }

    /** Gives removals and note to the node that starts, and asks it from now on. */
    void giveTo(ClusterNode node) {
        RetainedReplica next = node.retained();
        Map<String, RetainedVersion> found = Map.copyOf(removals);
        byte[] last = note;
        node.execute(() -> {
            if (last != null) {
                recover(next, last);
            }
            found.forEach(next::recoveredRemoval);
        });
        removals.clear();
        replica = next;
    }

    private static void recover(RetainedReplica next, byte[] last) {
        try {
            next.recoveredNote(last);
        } catch (MalformedBytesException e) {
            LOG.warn("the note about removed retained messages in the store is not used: {}", e.getMessage());
        }
    }

    /** Gives a message that the tree had before the start. */
    void giveTo(ClusterNode node, ApplicationMessage message) {
        RetainedVersion version = messages.remove(message);
        node.execute(() -> node.retained().recovered(message, version));
    }

    /** Drops the messages that the tree has no more. What was found in stores of other nodes meanwhile follows. */
    void given(ClusterNode node) {
        messages.clear();
        synchronized (this) {
            started = node;
            early.forEach(merge -> merge.into(node));
            early.clear();
        }
    }

    @Override
    @AnyThread
    public RetainedMerge merging(String home) {
        return new AdoptedRetained(home, () -> replica, this::merge);
    }

    @AnyThread
    private synchronized void merge(AdoptedRetained found) {
        ClusterNode node = started;
        if (node == null) {
            early.add(found);
        } else {
            found.into(node);
        }
    }
}
