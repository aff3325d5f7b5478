// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.RetainedMerge;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the store of another node has of retained messages and removals that this node does not have, or in earlier versions: what that node alone had
 * stored. The rows of two nodes are nearly the same, so each is compared when it is read, and few are kept.
 *
 * <p>Of the thread that reads the store, and after that of the cluster's loop. Other nodes get the rows by the usual comparison.
 */
final class AdoptedRetained implements RetainedMerge {

    private static final Logger LOG = LoggerFactory.getLogger(AdoptedRetained.class);

    /** A row without a version is older than all that have one. */
    private static final long BEFORE_ALL = 1;

    private static final int AT_ONCE = 200;

    private final String home;
    private final Supplier<@Nullable RetainedReplica> known;
    private final Consumer<AdoptedRetained> complete;
    private final Queue<RetainedRow> newer = new ArrayDeque<>();

    /**
     * Creates it without rows.
     *
     * @param home the node whose store it is
     * @param known supplies the retained messages of this node; null before its cluster has started: then all rows are kept, and compared later
     * @param complete receives this object when the store was read
     */
    AdoptedRetained(String home, Supplier<@Nullable RetainedReplica> known, Consumer<AdoptedRetained> complete) {
        this.home = home;
        this.known = known;
        this.complete = complete;
    }

    @Override
    public void found(ApplicationMessage message, @Nullable RetainedVersion version) {
        RetainedVersion present = version == null ? new RetainedVersion(BEFORE_ALL, home) : version;
        if (isNewer(message.topic().value(), present)) {
            newer.add(RetainedRow.of(present, message));
        }
    }

    @Override
    public void foundRemoval(TopicName topic, RetainedVersion version) {
        if (isNewer(topic.value(), version)) {
            newer.add(new RetainedRow(RetainedRow.Kind.CLEARED, topic.value(), version, null));
        }
    }

    private boolean isNewer(String topic, RetainedVersion version) {
        if (ClusterModule.isOfThisNode(topic)) {
            return false;
        }
        RetainedReplica replica = known.get();
        return replica == null || replica.isNewer(topic, version);
    }

    @Override
    public void begin() {
        complete.accept(this);
    }

    /** The number of rows that are to be stored here. */
    int size() {
        return newer.size();
    }

    /** Merges the rows, some at a time. */
    @AnyThread
    void into(ClusterNode node) {
        if (!newer.isEmpty()) {
            LOG.info(
                    "the store of node {} has {} retained messages, or removals, that are newer than here",
                    home,
                    size());
            node.execute(() -> merge(node));
        }
    }

    @OnClusterLoop
    private void merge(ClusterNode node) {
        for (int i = 0; i < AT_ONCE && !newer.isEmpty(); i++) {
            node.retained().found(newer.remove(), home);
        }
        if (!newer.isEmpty()) {
            node.execute(() -> merge(node));
        }
    }
}
