// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.config.AutoSubscriptionConfig;
import io.smqtt.config.RetainedPolicyConfig;
import io.smqtt.config.TopicRewriteConfig;
import io.smqtt.config.ValidationConfig;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The topic rewrites, automatic subscriptions, rules for retained messages and checks of payloads of operators: on all nodes, in the store, and applied by this
 * node.
 */
@AnyThread
public final class TopicRuleObjects implements BrokerModule {

    private final RuleList<TopicRewriteConfig> rewrites;
    private final RuleList<AutoSubscriptionConfig> subscriptions;
    private final RuleList<RetainedPolicyConfig> policies;
    private final RuleList<NamedCheck> checks;
    private volatile @Nullable PayloadChecks payloadChecks;

    /**
     * Creates the part of a node.
     *
     * @param objects keeps what operators make
     */
    public TopicRuleObjects(LiveObjects objects) {
        rewrites = new RuleList<>(objects, "topic_rewrite", new RewriteFields());
        subscriptions = new RuleList<>(objects, "auto_subscribe", new AutoSubscriptionFields());
        policies = new RuleList<>(objects, "retained_policy", new RetainedPolicyFields());
        checks = new RuleList<>(objects, "payload_check", new CheckFields(() -> payloadChecks));
    }

    RuleList<TopicRewriteConfig> rewrites() {
        return rewrites;
    }

    RuleList<AutoSubscriptionConfig> subscriptions() {
        return subscriptions;
    }

    RuleList<RetainedPolicyConfig> policies() {
        return policies;
    }

    RuleList<NamedCheck> checks() {
        return checks;
    }

    /** Whether this node can check payloads. */
    boolean canCheck() {
        return payloadChecks != null;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.fromRunnable(() -> {
            rewrites.start(
                    core.config().topicRewrites(), rules -> core.topicRules().rewrites(rules));
            subscriptions.start(
                    core.config().autoSubscriptions(),
                    rules -> core.topicRules().autoSubscriptions(rules));
            policies.start(core.config().retainedPolicies(), rules -> {
                List<RetainedPolicyConfig> all =
                        new ArrayList<>(core.config().retainedPolicies().values());
                all.addAll(rules);
                core.sessions().retained().policies(all, core.ticker());
            });
            PayloadChecks applied = core.payloadChecks();
            payloadChecks = applied;
            if (applied != null) {
                checks.start(named(core.config().validations()), rules -> applied.replace(configs(rules)));
            }
        });
    }

    private static Map<String, NamedCheck> named(Map<String, ValidationConfig> configured) {
        Map<String, NamedCheck> all = new LinkedHashMap<>();
        configured.forEach((name, check) -> all.put(name, new NamedCheck(name, check)));
        return all;
    }

    private static Map<String, ValidationConfig> configs(List<NamedCheck> checks) {
        Map<String, ValidationConfig> all = new LinkedHashMap<>();
        checks.forEach(check -> all.put(check.name(), check.config()));
        return all;
    }

    @Override
    public Mono<Void> stop() {
        return Mono.empty();
    }
}
