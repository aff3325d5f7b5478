// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.RetainedPolicyConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rules for retained messages of some topics. The first one whose filter matches decides. */
@AnyThread
final class RetainedPolicies {

    private final List<Rule> rules;
    private final Ticker ticker;

    private record Rule(TopicFilter filter, long maxPayload, long expirySeconds) {}

    RetainedPolicies(Collection<RetainedPolicyConfig> configs, Ticker ticker) {
        this.ticker = ticker;
        rules = configs.stream()
                .map(config -> new Rule(
                        TopicFilter.of(config.topic()),
                        config.maxPayloadBytes(),
                        config.expiry().toSeconds()))
                .toList();
    }

    /** The message as it is retained: the same object if no rule changes it; null if it is refused. */
    @Nullable
    ApplicationMessage apply(ApplicationMessage message) {
        for (Rule rule : rules) {
            if (rule.filter.matches(message.topic())) {
                return message.payload().size() > rule.maxPayload ? null : expiring(message, rule.expirySeconds);
            }
        }
        return message;
    }

    private ApplicationMessage expiring(ApplicationMessage message, long seconds) {
        long own = message.expiryIntervalSeconds();
        if (seconds == 0 || (own != ApplicationMessage.NEVER && own <= seconds)) {
            return message;
        }
        return message.toBuilder()
                .expiryInterval(Duration.ofSeconds(seconds))
                .build()
                .accepted(message.id(), ticker.nanoTime(), message.publisherId());
    }
}
