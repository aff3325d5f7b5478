// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.config.AutoSubscriptionConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.TopicRewriteConfig;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Topic rewrites and automatic subscriptions of this node: those of the configuration, and behind them those that operators change while the broker runs.
 * A change is in force for the packets that follow, and for clients that connect; subscriptions that exist stay.
 */
@AnyThread
public final class TopicRules {

    private final List<TopicRewriteConfig> fixedRewrites;
    private final List<AutoSubscriptionConfig> fixedSubscriptions;
    private volatile @Nullable TopicRewrites rewrites;
    private volatile AutoSubscriptions automatic;

    /**
     * Creates the rules of a configuration.
     *
     * @param config the configuration
     */
    public TopicRules(BrokerConfig config) {
        fixedRewrites = List.copyOf(config.topicRewrites().values());
        fixedSubscriptions = List.copyOf(config.autoSubscriptions().values());
        rewrites = TopicRewrites.of(fixedRewrites);
        automatic = new AutoSubscriptions(fixedSubscriptions);
    }

    /** The rewrites in force; null if there is none. */
    @Nullable
    TopicRewrites rewrites() {
        return rewrites;
    }

    /** The subscriptions that a client gets when it connects. */
    AutoSubscriptions automatic() {
        return automatic;
    }

    /**
     * Replaces the rewrites behind those of the configuration. As the last rule that covers a topic decides, they take precedence.
     *
     * @param changed the rules in their order
     */
    public void rewrites(Collection<TopicRewriteConfig> changed) {
        rewrites = TopicRewrites.of(joined(fixedRewrites, changed));
    }

    /**
     * Replaces the automatic subscriptions behind those of the configuration.
     *
     * @param changed the subscriptions in their order
     */
    public void autoSubscriptions(Collection<AutoSubscriptionConfig> changed) {
        automatic = new AutoSubscriptions(joined(fixedSubscriptions, changed));
    }

    private static <T> List<T> joined(List<T> fixed, Collection<T> changed) {
        List<T> all = new ArrayList<>(fixed);
        all.addAll(changed);
        return all;
    }
}
