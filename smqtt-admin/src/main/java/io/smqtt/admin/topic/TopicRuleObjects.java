// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.config.AutoSubscriptionConfig;
import io.smqtt.config.TopicRewriteConfig;
import io.smqtt.thread.AnyThread;
import reactor.core.publisher.Mono;

/** The topic rewrites and automatic subscriptions of operators: on all nodes, in the store, and applied by this node. */
@AnyThread
public final class TopicRuleObjects implements BrokerModule {

    private final RuleList<TopicRewriteConfig> rewrites;
    private final RuleList<AutoSubscriptionConfig> subscriptions;

    /**
     * Creates the part of a node.
     *
     * @param objects keeps what operators make
     */
    public TopicRuleObjects(LiveObjects objects) {
        rewrites = new RuleList<>(objects, "topic_rewrite", new RewriteFields());
        subscriptions = new RuleList<>(objects, "auto_subscribe", new AutoSubscriptionFields());
    }

    RuleList<TopicRewriteConfig> rewrites() {
        return rewrites;
    }

    RuleList<AutoSubscriptionConfig> subscriptions() {
        return subscriptions;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> {
            rewrites.start(
                    core.config().topicRewrites(), rules -> core.topicRules().rewrites(rules));
            subscriptions.start(
                    core.config().autoSubscriptions(),
                    rules -> core.topicRules().autoSubscriptions(rules));
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }
}
