// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.thread.AnyThread;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The notifications of one connection of a bridge: its state is published at this broker, at the other one, at both or nowhere. */
@AnyThread
final class StateNotices {

    private static final Logger LOG = LoggerFactory.getLogger(StateNotices.class);

    private final String bridge;
    private final String topic;
    private final @Nullable StateTopic here;
    private final boolean both;
    private final boolean ofAllNodes;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private volatile boolean there;

    /**
     * Creates the notices of a connection.
     *
     * @param bridge the name of the connection
     * @param topic the topic at both brokers
     * @param sessionId the client identifier at this broker, whose subscriptions do not get the state
     * @param elected whether one of several nodes connects it
     */
    StateNotices(
            BrokerModule.Core core,
            BridgeConfig config,
            String bridge,
            String topic,
            String sessionId,
            boolean elected) {
        this.bridge = bridge;
        this.topic = topic;
        boolean none = config.notifications() == BridgeConfig.Notifications.NONE;
        this.here = none ? null : new StateTopic(core, topic, sessionId);
        this.both = config.notifications() == BridgeConfig.Notifications.BOTH;
        this.ofAllNodes = elected && !StateTopic.isOfNode(topic);
        this.there = both;
    }

    /** The broker starts: the connection is not there. If one of several nodes connects it, another one may know better. */
    void begin() {
        if (!ofAllNodes) {
            publish(false);
        }
    }

    /** The connection is, or is not, there. */
    void publish(boolean connected) {
        StateTopic target = here;
        if (target != null) {
            target.publish(connected ? "1" : "0");
        }
    }

    /** The topic at the other broker; null if the state is not published there. */
    @Nullable
    String topicThere() {
        return there ? topic : null;
    }

    /** The other broker takes no retained message, or not this topic. */
    void refusedThere(String at, String refusal) {
        there = false;
        if (lines.allows("bridge " + bridge + " without state: " + refusal)) {
            LOG.warn(
                    "bridge {}: {} does not take the state of the connection, connecting without it: {}",
                    bridge,
                    at,
                    refusal);
        }
    }

    /** A connection has been refused without the state, too, so that was perhaps not the cause. */
    void wantAgain() {
        there = both;
    }
}
