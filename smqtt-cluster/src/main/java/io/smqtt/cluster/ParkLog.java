// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.DropReason;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs dropped messages with their numbers, once a minute for each node and reason, and raises an alarm with each line. */
@OnClusterLoop
final class ParkLog {

    private static final Logger LOG = LoggerFactory.getLogger(ParkLog.class);
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int MAXIMUM_LINES = 1_000;
    private static final int MAXIMUM_DAMAGED_LINES = 10;

    private final LongSupplier nanoTime;
    private final Consumer<Alarm> alarms;
    private final Map<Key, Line> lines = new HashMap<>();
    private long readFailureLoggedNanos = Long.MIN_VALUE;
    private final FewLines damagedLines = new FewLines();
    private long refusalLoggedNanos = Long.MIN_VALUE;
    private long heldBackLoggedNanos = Long.MIN_VALUE;

    private record Key(String nodeId, DropReason reason) {}

    /**
     * Messages for a node were dropped.
     *
     * @param nodeId the node
     * @param reason why
     * @param messages the number of messages since the last alarm of this kind
     * @param left the number of messages that are still kept for the node
     */
    record Alarm(String nodeId, DropReason reason, long messages, int left) {}

    /** At most ten lines in a minute. */
    private static final class FewLines {

        private int lines;
        private long minuteNanos;

        boolean isDue(long now) {
            if (lines == 0 || now - minuteNanos >= MINUTE_NANOS) {
                minuteNanos = now;
                lines = 0;
            }
            boolean due = lines < MAXIMUM_DAMAGED_LINES;
            lines += due ? 1 : 0;
            return due;
        }
    }

    /** Drops that were not logged yet. */
    private static final class Line {

        private long count;
        private int left;
        private long loggedNanos;
    }

    /**
     * Creates a log.
     *
     * @param nanoTime the broker's monotonic clock
     * @param alarms receives each line
     */
    ParkLog(LongSupplier nanoTime, Consumer<Alarm> alarms) {
        this.nanoTime = nanoTime;
        this.alarms = alarms;
    }

    void dropped(String nodeId, DropReason reason, int count, int left) {
        long now = nanoTime.getAsLong();
        Key key = new Key(nodeId, reason);
        Line line = lines.get(key);
        if (line == null) {
            line = new Line();
            line.loggedNanos = now - MINUTE_NANOS;
            lines.put(key, line);
        }
        line.count += count;
        line.left = left;
        if (now - line.loggedNanos >= MINUTE_NANOS || lines.size() > MAXIMUM_LINES) {
            log(key, line, now);
        }
    }

    void tick() {
        if (lines.isEmpty()) {
            return;
        }
        long now = nanoTime.getAsLong();
        lines.forEach((key, line) -> {
            if (line.count > 0 && now - line.loggedNanos >= MINUTE_NANOS) {
                log(key, line, now);
            }
        });
        lines.values().removeIf(line -> line.count == 0 && now - line.loggedNanos >= MINUTE_NANOS);
    }

    private void log(Key key, Line line, long now) {
        switch (key.reason) {
            case PEER_GONE ->
                LOG.warn(
                        "dropped {} messages that were parked for node {}, which is forgotten: unreachable for longer than"
                                + " cluster.forget-after",
                        line.count,
                        key.nodeId);
            case FAILED ->
                LOG.warn(
                        "dropped {} messages that were parked for node {}: they cannot be read from the store",
                        line.count,
                        key.nodeId);
            default ->
                LOG.warn(
                        "dropped or refused {} messages for the unreachable node {}: cluster.park.max-bytes is reached, {} messages are"
                                + " parked",
                        line.count,
                        key.nodeId,
                        line.left);
        }
        alarms.accept(new Alarm(key.nodeId, key.reason, line.count, line.left));
        line.count = 0;
        line.loggedNanos = now;
    }

    void readFailed(String nodeId, Throwable cause) {
        long now = nanoTime.getAsLong();
        if (readFailureLoggedNanos == Long.MIN_VALUE || now - readFailureLoggedNanos >= MINUTE_NANOS) {
            readFailureLoggedNanos = now;
            LOG.warn("messages that are parked for node {} cannot be read; trying again", nodeId, cause);
        }
    }

    void damaged(String nodeId, long queue, long row, Throwable cause) {
        if (damagedLines.isDue(nanoTime.getAsLong())) {
            LOG.warn(
                    "message {} of queue {}, parked for node {}, is damaged and skipped: {}",
                    row,
                    queue,
                    nodeId,
                    cause.getMessage());
        }
    }

    void refused(String nodeId) {
        long now = nanoTime.getAsLong();
        if (refusalLoggedNanos == Long.MIN_VALUE || now - refusalLoggedNanos >= MINUTE_NANOS) {
            refusalLoggedNanos = now;
            LOG.warn("node {} cannot store messages that were parked for it; they are sent again until it can", nodeId);
        }
    }

    void heldBack(String nodeId, int messages) {
        long now = nanoTime.getAsLong();
        if (heldBackLoggedNanos == Long.MIN_VALUE || now - heldBackLoggedNanos >= MINUTE_NANOS) {
            heldBackLoggedNanos = now;
            LOG.warn(
                    "{} messages for node {} cannot be parked now: their publishers wait, because MQTT 3.1.1 has no negative acknowledgement",
                    messages,
                    nodeId);
        }
    }
}
