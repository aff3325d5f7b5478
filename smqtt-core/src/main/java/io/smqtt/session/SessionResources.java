// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.routing.Router;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.Ticker;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parts of the broker that its sessions use. */
record SessionResources(
        Router router,
        List<DeadlineWheel> wheels,
        Authorizer authorizer,
        BrokerObserver observer,
        Ticker ticker,
        LimitsConfig limits,
        SessionConfig config,
        QueueBudget budget,
        SessionBudget sessionBudget,
        @Nullable Stores stores,
        ExclusiveFilters exclusive,
        Map<String, OwnSettings> ownSettings) {

    /** The limits and the queue settings of one session, and its part of the topics; null for all. */
    record OwnSettings(
            LimitsConfig limits,
            SessionConfig config,
            @Nullable TopicShare share) {}

    /** The part of the topics that a session takes; null if it takes all. */
    @Nullable
    TopicShare shareOf(String clientId) {
        OwnSettings own = ownSettings.isEmpty() ? null : ownSettings.get(clientId);
        return own == null ? null : own.share();
    }

    /** The resources of a session, with its own settings if it has any. */
    SessionResources of(String clientId) {
        OwnSettings own = ownSettings.isEmpty() ? null : ownSettings.get(clientId);
        return own == null
                ? this
                : new SessionResources(
                        router,
                        wheels,
                        authorizer,
                        observer,
                        ticker,
                        own.limits(),
                        own.config(),
                        budget,
                        sessionBudget,
                        stores,
                        exclusive,
                        Map.of());
    }

    /** Reports a limit that was exceeded; null for none. Returns whether there was one. */
    boolean refused(@Nullable String limit) {
        if (limit != null) {
            observer.sessionRefused(limit);
        }
        return limit != null;
    }
}
