// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.guard.Guard;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Grants;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class RuleRefreshTest {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.1", 5);

    private Mono<List<AccessRule>> answer = Mono.just(List.of());
    private int fetched;

    private final AccessBackend backend = new AccessBackend() {
        @Override
        public Set<Ability> abilities() {
            return Set.of(Ability.RULES);
        }

        @Override
        public Mono<List<AccessRule>> rules(BackendRequest request) {
            fetched++;
            return answer;
        }

        @Override
        public void close() {}
    };
    private final AccessBackendConfig config = AccessBackendConfig.builder("x").build();
    private final Member member =
            new Member("b", config, backend, new Guard("b", config, Ticker.SYSTEM, new LifecycleObserver() {}));
    private final ChainAuthorizer authorizer = new ChainAuthorizer(List.of(member));
    private final RuleRefresh refresh = new RuleRefresh(List.of(member), authorizer);
    private final ClientIdentity client = new ClientIdentity(
            "c", "ann", ADDRESS, "tcp", ProtocolVersion.MQTT_5, Set.of(), false, Grants.NONE.withRules(rules()));

    private static FetchedRules rules() {
        BackendRequest request = new BackendRequest(
                "c", "ann", null, ADDRESS, "tcp", ProtocolVersion.MQTT_5, CertificateNames.NONE, Map.of());
        return new FetchedRules(request, List.of(), List.of());
    }

    private void refreshAll() {
        refresh.all();
        refresh.sweep();
    }

    private String mayPublish() {
        return client.grants()
                .rules()
                .decide(client, AccessAction.PUBLISH, "a", QoS.AT_MOST_ONCE, false)
                .toString();
    }

    @Test
    void changedRulesOfAConnectedClientAreInForceAndCachedDecisionsEnd() {
        refresh.clientConnected(client, false);
        answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));

        refreshAll();

        assertThat(mayPublish()).isEqualTo("ALLOW");
        assertThat(authorizer.generation()).isEqualTo(1);
    }

    @Test
    void equalRulesChangeNothing() {
        refresh.clientConnected(client, false);

        refreshAll();

        assertThat(fetched).isEqualTo(1);
        assertThat(authorizer.generation()).isZero();
    }

    @Test
    void rulesThatAreYoungAreNotFetched() {
        refresh.clientConnected(client, false);

        refresh.sweep();

        assertThat(fetched).isZero();
    }

    @Test
    void rulesThatCannotBeFetchedOrUsedStayAsTheyWere() {
        refresh.clientConnected(client, false);
        answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));
        refreshAll();

        answer = Mono.error(new IllegalStateException("down"));
        refreshAll();
        answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a/#/b")));
        refreshAll();

        assertThat(fetched).isEqualTo(3);
        assertThat(mayPublish()).isEqualTo("ALLOW");
        assertThat(authorizer.generation()).isEqualTo(1);
    }

    @Test
    void rulesThatCannotBeFetchedAreFetchedAgainSoon() {
        refresh.clientConnected(client, false);
        answer = Mono.error(new IllegalStateException("away"));
        refreshAll();
        answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));

        refresh.sweep(System.nanoTime() + Duration.ofSeconds(6).toNanos());

        assertThat(fetched).isEqualTo(2);
        assertThat(mayPublish()).isEqualTo("ALLOW");
    }

    @Test
    void theRulesOfAClientThatHasAuthenticatedAgainReplaceThoseOfBefore() {
        refresh.clientConnected(client, false);
        ClientIdentity again = new ClientIdentity(
                "c", "ann", ADDRESS, "tcp", ProtocolVersion.MQTT_5, Set.of(), false, Grants.NONE.withRules(rules()));
        refresh.clientReauthenticated(client, again);

        refreshAll();
        assertThat(fetched).isEqualTo(1);

        refresh.clientDisconnected(again, ReasonCode.SUCCESS);
        refreshAll();
        assertThat(fetched).isEqualTo(1);
    }

    @Test
    void theRulesOfAClientThatHasGoneAreNotFetched() {
        refresh.clientConnected(client, false);
        refresh.clientDisconnected(client, ReasonCode.SUCCESS);

        refreshAll();

        assertThat(fetched).isZero();
    }
}
