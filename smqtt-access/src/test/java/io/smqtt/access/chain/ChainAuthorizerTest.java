// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.access.guard.ClientRefusedException;
import io.smqtt.access.guard.Guard;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.AccessBackendConfig.OnFailure;
import io.smqtt.config.AccessBackendConfigBuilder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Backends that are asked about each topic. */
class ChainAuthorizerTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final LifecycleObserver NOBODY = new LifecycleObserver() {};

    private final List<Member> members = new ArrayList<>();
    private final List<String> asked = new ArrayList<>();

    /** A backend whose decision a test gives. */
    private final class Scripted implements AccessBackend {

        private final String name;
        private final Set<Ability> abilities;
        private Mono<AccessDecision> decision = AccessDecision.CONTINUE.now();

        Scripted(String name, Ability ability) {
            this.name = name;
            this.abilities = Set.of(ability);
        }

        @Override
        public Set<Ability> abilities() {
            return abilities;
        }

        @Override
        public Mono<AccessDecision> authorize(TopicRequest request) {
            asked.add(name + " " + request.client().clientId() + " " + request.action() + " " + request.topic());
            assertThat(request.client().password()).isNull();
            return decision;
        }

        @Override
        public void close() {}
    }

    private Scripted add(String name, AccessBackendConfigBuilder config, AccessBackend.Ability ability) {
        AccessBackendConfig built = config.build();
        Scripted backend = new Scripted(name, ability);
        members.add(new Member(name, built, backend, new Guard(name, built, Ticker.SYSTEM, NOBODY)));
        return backend;
    }

    private Scripted topics(String name) {
        return add(name, AccessBackendConfig.builder("x"), AccessBackend.Ability.TOPICS);
    }

    private static AccessBackendConfigBuilder next() {
        return AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT);
    }

    private static ClientIdentity client(String clientId, String userName) {
        return new ClientIdentity(
                clientId, userName, new InetSocketAddress("192.0.2.1", 5), "tcp", ProtocolVersion.MQTT_5, Set.of());
    }

    private AccessDecision decide(String clientId, AccessAction action, String topic) {
        return new ChainAuthorizer(members)
                .authorize(client(clientId, "ann"), action, topic, QoS.AT_LEAST_ONCE, false)
                .block(SOON);
    }

    private AccessDecision publish(String topic) {
        return decide("c", AccessAction.PUBLISH, topic);
    }

    @Test
    void theFirstBackendThatDecidesDecides() {
        topics("a");
        topics("b").decision = AccessDecision.DENY.now();
        topics("c").decision = AccessDecision.ALLOW.now();

        assertThat(publish("t")).isEqualTo(AccessDecision.DENY);
        assertThat(asked).containsExactly("a c PUBLISH t", "b c PUBLISH t");
    }

    @Test
    void whatNoneDecidesIsLeftToTheNextAuthorizer() {
        topics("a");
        topics("b");

        assertThat(publish("t")).isEqualTo(AccessDecision.CONTINUE);
        assertThat(asked).hasSize(2);
    }

    @Test
    void backendsThatDecideNoTopicsAreNotAsked() {
        add("rules", AccessBackendConfig.builder("x"), AccessBackend.Ability.RULES);
        add("users", AccessBackendConfig.builder("x").checks(List.of("user")), AccessBackend.Ability.TOPICS);
        add("others", AccessBackendConfig.builder("x").userPrefix("dev-"), AccessBackend.Ability.TOPICS);

        assertThat(publish("t")).isEqualTo(AccessDecision.CONTINUE);
        assertThat(asked).isEmpty();
    }

    @Test
    void aFailureDenies() {
        topics("a").decision = Mono.error(new IllegalStateException("down"));
        topics("b").decision = AccessDecision.ALLOW.now();

        assertThat(publish("t")).isEqualTo(AccessDecision.DENY);
        assertThat(asked).containsExactly("a c PUBLISH t");
    }

    @Test
    void anEmptyAnswerAndAnExceptionAreFailures() {
        Scripted backend = topics("a");
        topics("b").decision = AccessDecision.ALLOW.now();
        backend.decision = Mono.empty();
        assertThat(publish("t")).isEqualTo(AccessDecision.DENY);

        backend.decision = Mono.defer(() -> {
            throw new IllegalStateException("bug");
        });
        assertThat(publish("u")).isEqualTo(AccessDecision.DENY);
    }

    @Test
    void afterAFailureTheNextIsAskedIfItIsConfiguredSo() {
        add("a", next(), AccessBackend.Ability.TOPICS).decision = Mono.error(new IllegalStateException("down"));
        topics("b").decision = AccessDecision.ALLOW.now();

        assertThat(publish("t")).isEqualTo(AccessDecision.ALLOW);
        assertThat(asked).containsExactly("a c PUBLISH t", "b c PUBLISH t");
    }

    @Test
    void aBackendThatFailsAllTheTimeIsNotAskedAndTheNextOneIs() {
        add("a", next(), AccessBackend.Ability.TOPICS).decision = Mono.error(new IllegalStateException("down"));
        topics("b").decision = AccessDecision.ALLOW.now();
        for (int i = 0; i < 5; i++) {
            assertThat(publish("t" + i)).isEqualTo(AccessDecision.ALLOW);
        }
        asked.clear();

        assertThat(publish("u")).isEqualTo(AccessDecision.ALLOW);
        assertThat(asked).containsExactly("b c PUBLISH u");
    }

    /** Or whoever asks often enough would choose which backend decides. */
    @Test
    void tooManyRequestsDenyAlsoIfFailuresAreIgnored() {
        AccessBackendConfigBuilder narrow = next().maxConcurrent(1).maxWaiting(0);
        Sinks.One<AccessDecision> late = Sinks.one();
        add("a", narrow, AccessBackend.Ability.TOPICS).decision = late.asMono();
        topics("b").decision = AccessDecision.ALLOW.now();
        List<AccessDecision> first = new ArrayList<>();
        new ChainAuthorizer(members)
                .authorize(client("c", "ann"), AccessAction.PUBLISH, "t", QoS.AT_MOST_ONCE, false)
                .subscribe(first::add);

        assertThat(publish("u")).isEqualTo(AccessDecision.DENY);
        late.tryEmitValue(AccessDecision.CONTINUE);
        assertThat(first).containsExactly(AccessDecision.ALLOW);
    }

    @Test
    void aBackendCanRefuseAClientInsteadOfTheNextOne() {
        add("a", next(), AccessBackend.Ability.TOPICS).decision =
                Mono.error(new ClientRefusedException("a value that fits no column"));
        topics("b").decision = AccessDecision.ALLOW.now();

        for (int i = 0; i < 10; i++) { // no failure: the backend stays in use
            assertThat(publish("t" + i)).isEqualTo(AccessDecision.DENY);
        }
        assertThat(asked).hasSize(10).allMatch(each -> each.startsWith("a "));
    }

    @Test
    void aDecisionIsKeptForEachClientActionAndTopic() {
        topics("a").decision = AccessDecision.ALLOW.now();
        for (int i = 0; i < 3; i++) {
            assertThat(publish("t")).isEqualTo(AccessDecision.ALLOW);
            assertThat(decide("d", AccessAction.PUBLISH, "t")).isEqualTo(AccessDecision.ALLOW);
            assertThat(decide("c", AccessAction.SUBSCRIBE, "t")).isEqualTo(AccessDecision.ALLOW);
            assertThat(publish("u")).isEqualTo(AccessDecision.ALLOW);
        }

        assertThat(asked).containsExactly("a c PUBLISH t", "a d PUBLISH t", "a c SUBSCRIBE t", "a c PUBLISH u");
        assertThat(members.get(0).clear()).isEqualTo(4);
        assertThat(publish("t")).isEqualTo(AccessDecision.ALLOW);
        assertThat(asked).hasSize(5);
    }

    @Test
    void anActionIsDeniedWhenItsTimeIsOver() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        add("a", next(), AccessBackend.Ability.TOPICS).decision = Mono.never();
        topics("b").decision = AccessDecision.ALLOW.now();
        List<AccessDecision> decisions = new ArrayList<>();
        new ChainAuthorizer(members, timers)
                .authorize(client("c", "ann"), AccessAction.PUBLISH, "t", QoS.AT_MOST_ONCE, false)
                .subscribe(decisions::add);

        timers.advanceTimeBy(Duration.ofMillis(24_999));
        assertThat(decisions).isEmpty();
        timers.advanceTimeBy(Duration.ofMillis(1));
        assertThat(decisions).containsExactly(AccessDecision.DENY);
        assertThat(asked).containsExactly("a c PUBLISH t");
    }

    @Test
    void deliveriesAreNotAskedAbout() {
        topics("a").decision = AccessDecision.DENY.now();

        assertThat(decide("c", AccessAction.RECEIVE, "t")).isEqualTo(AccessDecision.ALLOW);
        assertThat(asked).isEmpty();
        assertThat(new ChainAuthorizer(members).checksDeliveries()).isFalse();
    }
}
