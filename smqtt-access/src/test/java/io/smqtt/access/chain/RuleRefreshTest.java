// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.RuleList;
import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.guard.Guard;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.AccessBackendConfig.OnFailure;
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
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class RuleRefreshTest {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.1", 5);

    private final Scripted first = new Scripted();
    private final Scripted second = new Scripted();
    private final Member refusing = member("b", OnFailure.REFUSE, first);
    private final Member next = member("a", OnFailure.NEXT, second);
    private final ChainAuthorizer authorizer = new ChainAuthorizer(List.of(next, refusing));
    private final RuleRefresh refresh = new RuleRefresh(List.of(next, refusing), authorizer);
    private final ClientIdentity client = client(refusing);

    /** A backend whose answers a test gives. */
    private static final class Scripted implements AccessBackend {

        private Mono<List<AccessRule>> answer = Mono.just(List.of());
        private int fetched;

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
    }

    private static Member member(String name, OnFailure onFailure, AccessBackend backend) {
        AccessBackendConfig config =
                AccessBackendConfig.builder("x").onFailure(onFailure).build();
        return new Member(name, config, backend, new Guard(name, config, Ticker.SYSTEM, new LifecycleObserver() {}));
    }

    /** A client whose rules come from some backends, which have none at the connect. */
    private static ClientIdentity client(Member... sources) {
        return client(Stream.of(sources)
                .map(source -> new MemberRules(source, List.of()))
                .toArray(MemberRules[]::new));
    }

    private static ClientIdentity client(MemberRules... fetched) {
        BackendRequest request = new BackendRequest(
                "c", "ann", null, ADDRESS, "tcp", ProtocolVersion.MQTT_5, CertificateNames.NONE, Map.of());
        return new ClientIdentity(
                "c",
                "ann",
                ADDRESS,
                "tcp",
                ProtocolVersion.MQTT_5,
                Set.of(),
                false,
                Grants.NONE.withRules(new FetchedRules(request, List.of(), List.of(fetched))));
    }

    private static AccessRule denied(String topic) {
        return new AccessRule(new RuleList.Rule(false, Actions.ALL, topic));
    }

    private void refreshAll() {
        refresh.all();
        refresh.sweep();
    }

    private String mayPublish() {
        return mayPublish(client, "a");
    }

    private static String mayPublish(ClientIdentity client, String topic) {
        return client.grants()
                .rules()
                .decide(client, AccessAction.PUBLISH, topic, QoS.AT_MOST_ONCE, false)
                .toString();
    }

    @Test
    void changedRulesOfAConnectedClientAreInForceAndCachedDecisionsEnd() {
        refresh.clientConnected(client, false);
        first.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));

        refreshAll();

        assertThat(mayPublish()).isEqualTo("ALLOW");
        assertThat(authorizer.generation()).isEqualTo(1);
    }

    @Test
    void equalRulesChangeNothing() {
        refresh.clientConnected(client, false);

        refreshAll();

        assertThat(first.fetched).isEqualTo(1);
        assertThat(authorizer.generation()).isZero();
    }

    @Test
    void rulesThatAreYoungAreNotFetched() {
        refresh.clientConnected(client, false);

        refresh.sweep();

        assertThat(first.fetched).isZero();
    }

    @Test
    void rulesThatCannotBeFetchedOrUsedStayAsTheyWere() {
        refresh.clientConnected(client, false);
        first.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));
        refreshAll();

        first.answer = Mono.error(new IllegalStateException("down"));
        refreshAll();
        first.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a/#/b")));
        refreshAll();

        assertThat(first.fetched).isEqualTo(3);
        assertThat(mayPublish()).isEqualTo("ALLOW");
        assertThat(authorizer.generation()).isEqualTo(1);
    }

    @Test
    void rulesThatCannotBeFetchedAreFetchedAgainSoon() {
        refresh.clientConnected(client, false);
        first.answer = Mono.error(new IllegalStateException("away"));
        refreshAll();
        first.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));

        refresh.sweep(System.nanoTime() + Duration.ofSeconds(6).toNanos());

        assertThat(first.fetched).isEqualTo(2);
        assertThat(mayPublish()).isEqualTo("ALLOW");
    }

    @Test
    void anAnswerToAnEarlierRequestDoesNotReplaceThatToALaterOne() {
        refresh.clientConnected(client, false);
        CompletableFuture<List<AccessRule>> slow = new CompletableFuture<>();
        first.answer = Mono.fromFuture(slow);
        refreshAll();
        refresh.all();
        CompletableFuture<List<AccessRule>> quick = new CompletableFuture<>();
        first.answer = Mono.fromFuture(quick);
        refusing.clear();
        refresh.sweep();
        quick.complete(List.of(denied("a")));

        slow.complete(List.of(AccessRule.allow(Actions.ALL, "a")));

        assertThat(mayPublish()).isEqualTo("DENY");
    }

    @Test
    void aClientWhoseLoginWasUnderWayGetsItsRulesAgain() {
        refresh.all();
        refresh.clientConnected(client, false);

        refresh.sweep(System.nanoTime() + Duration.ofSeconds(6).toNanos());

        assertThat(first.fetched).isEqualTo(1);
    }

    /** Else an operator would believe that they are in force. */
    @Test
    void changedRulesThatCannotBeUsedAreLogged() {
        refresh.clientConnected(client, false);
        first.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a/#/b")));

        try (LoggedLines lines = new LoggedLines()) {
            refreshAll();

            assertThat(lines.all())
                    .singleElement()
                    .asString()
                    .startsWith("changed access rules cannot be used, those of client c stay as they were: ");
        }
    }

    /** With {@code on-failure: next} a client is served without the rules of a backend that fails. */
    @Test
    void rulesThatWereNotThereAtTheConnectAreFetchedSoon() {
        ClientIdentity without = client(MemberRules.unknown(next));
        refresh.clientConnected(without, false);
        refresh.clientConnected(client, false);
        second.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));

        refresh.sweep(System.nanoTime() + Duration.ofSeconds(6).toNanos());

        assertThat(second.fetched).isEqualTo(1);
        assertThat(first.fetched).isZero();
        assertThat(mayPublish(without, "a")).isEqualTo("ALLOW");

        refresh.sweep(System.nanoTime() + Duration.ofSeconds(6).toNanos());
        assertThat(second.fetched).isEqualTo(1);
    }

    @Test
    void rulesOfABackendThatFailsStayAlsoIfTheNextOneIsAskedInstead() {
        ClientIdentity both = client(refusing, next);
        refresh.clientConnected(both, false);
        second.answer = Mono.just(List.of(denied("a")));
        refreshAll();
        assertThat(mayPublish(both, "a")).isEqualTo("DENY");

        second.answer = Mono.error(new IllegalStateException("down"));
        first.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "b")));
        refreshAll();
        assertThat(mayPublish(both, "a")).isEqualTo("DENY");
        assertThat(mayPublish(both, "b")).isEqualTo("ALLOW");

        second.answer = Mono.just(List.of());
        refresh.sweep(System.nanoTime() + Duration.ofSeconds(6).toNanos());
        assertThat(mayPublish(both, "a")).isEqualTo("CONTINUE");
    }

    @Test
    void rulesKeepTheOrderAndTheBackendsOfTheConnect() {
        ClientIdentity both = client(refusing, next);
        refresh.clientConnected(both, false);
        refresh.clientConnected(client, false);
        first.answer = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));
        second.answer = Mono.just(List.of(denied("#")));

        refreshAll();

        assertThat(mayPublish(both, "a")).isEqualTo("ALLOW");
        assertThat(mayPublish(both, "b")).isEqualTo("DENY");
        assertThat(mayPublish(client, "b")).isEqualTo("CONTINUE");
    }

    @Test
    void theRulesOfAClientThatHasAuthenticatedAgainReplaceThoseOfBefore() {
        refresh.clientConnected(client, false);
        ClientIdentity again = client(refusing);
        refresh.clientReauthenticated(client, again);

        refreshAll();
        assertThat(first.fetched).isEqualTo(1);

        refresh.clientDisconnected(again, ReasonCode.SUCCESS);
        refreshAll();
        assertThat(first.fetched).isEqualTo(1);
    }

    @Test
    void theRulesOfAClientThatHasGoneAreNotFetched() {
        refresh.clientConnected(client, false);
        refresh.clientDisconnected(client, ReasonCode.SUCCESS);

        refreshAll();

        assertThat(first.fetched).isZero();
    }
}
