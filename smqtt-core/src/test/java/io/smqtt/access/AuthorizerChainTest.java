// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class AuthorizerChainTest {

    private static final Duration SOON = Duration.ofSeconds(5);

    @Test
    void firstDecisionThatIsNotContinueCounts() {
        assertThat(decide(says(AccessDecision.CONTINUE), says(AccessDecision.ALLOW), says(AccessDecision.DENY)))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(says(AccessDecision.DENY), says(AccessDecision.ALLOW)))
                .isEqualTo(AccessDecision.DENY);
    }

    @Test
    void deniesWhenNobodyDecides() {
        assertThat(decide(says(AccessDecision.CONTINUE))).isEqualTo(AccessDecision.DENY);
        assertThat(decide()).isEqualTo(AccessDecision.DENY);
    }

    @Test
    void hiddenTopicsAreDeniedToAll() {
        AuthorizerChain chain = new AuthorizerChain(List.of(says(AccessDecision.ALLOW)));
        for (AccessAction action : AccessAction.values()) {
            for (String topic : List.of("$smqtt", "$smqtt/#", "$smqtt/object/user/a")) {
                assertThat(chain.authorize(Clients.anonymous(), action, topic, QoS.AT_MOST_ONCE, true)
                                .block())
                        .as("%s %s", action, topic)
                        .isEqualTo(AccessDecision.DENY);
            }
        }
    }

    @Test
    void deniesOnErrorEmptyAnswerAndException() {
        assertThat(decide(answers(Mono.error(new IllegalStateException("down"))), says(AccessDecision.ALLOW)))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(answers(Mono.empty()), says(AccessDecision.ALLOW))).isEqualTo(AccessDecision.DENY);
        assertThat(decide(request -> {
                    throw new IllegalStateException("down");
                }))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(request -> null)).isEqualTo(AccessDecision.DENY);
    }

    @Test
    void deniesWhatReactorTakesForFatal() {
        LinkageError missing = new NoClassDefFoundError("on purpose");

        assertThat(decide(request -> {
                    throw missing;
                }))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(answers(Mono.error(missing)), says(AccessDecision.ALLOW)))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(answers(Mono.fromSupplier(() -> {
                    throw missing;
                }))))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(answers(Mono.defer(() -> {
                    throw missing;
                }))))
                .isEqualTo(AccessDecision.DENY);
    }

    @Test
    void deniesOnErrorAndEmptyAnswerThatComeLater() {
        Mono<AccessDecision> lateError = later(Mono.error(new IllegalStateException("down")));

        assertThat(decide(answers(lateError), says(AccessDecision.ALLOW))).isEqualTo(AccessDecision.DENY);
        assertThat(decide(answers(later(Mono.empty())), says(AccessDecision.ALLOW)))
                .isEqualTo(AccessDecision.DENY);
    }

    @Test
    void goesOnAfterAnAnswerThatTakesTime() {
        assertThat(decide(answers(later(Mono.just(AccessDecision.CONTINUE))), says(AccessDecision.ALLOW)))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(answers(later(Mono.just(AccessDecision.CONTINUE))))).isEqualTo(AccessDecision.DENY);
    }

    @Test
    void answersAtHandAreReadWithoutSubscriptionAndGiveTheConstant() {
        AtomicInteger subscriptions = new AtomicInteger();
        AuthorizerChain chain = chain(
                says(AccessDecision.CONTINUE), answers(Mono.just(AccessDecision.ALLOW)), answers(Mono.defer(() -> {
                    subscriptions.incrementAndGet();
                    return AccessDecision.DENY.now();
                })));

        Mono<AccessDecision> answer =
                chain.authorize(Clients.anonymous(), AccessAction.PUBLISH, "a", QoS.AT_MOST_ONCE, false);

        assertThat(answer).isSameAs(AccessDecision.ALLOW.now());
        assertThat(subscriptions).hasValue(0);
    }

    @Test
    void nobodyPublishesBelowSysWhateverAuthorizersSay() {
        AuthorizerChain chain = chain(says(AccessDecision.ALLOW));

        for (String topic : List.of("$SYS", "$SYS/", "$SYS/broker/uptime")) {
            assertThat(chain.authorize(Clients.user("root"), AccessAction.PUBLISH, topic, QoS.AT_MOST_ONCE, false)
                            .block(SOON))
                    .isEqualTo(AccessDecision.DENY);
            assertThat(chain.authorize(Clients.user("root"), AccessAction.SUBSCRIBE, topic, QoS.AT_MOST_ONCE, false)
                            .block(SOON))
                    .isEqualTo(AccessDecision.ALLOW);
        }
        assertThat(chain.authorize(Clients.user("root"), AccessAction.PUBLISH, "$SYSTEM", QoS.AT_MOST_ONCE, false)
                        .block(SOON))
                .isEqualTo(AccessDecision.ALLOW);
    }

    @Test
    void generationIsTheSumOfTheMembers() {
        AtomicLong first = new AtomicLong(3);
        AtomicLong second = new AtomicLong(4);
        AuthorizerChain chain = chain(counted(first, false), counted(second, false));

        assertThat(chain.generation()).isEqualTo(7);
        second.incrementAndGet();
        assertThat(chain.generation()).isEqualTo(8);
    }

    @Test
    void checksDeliveriesIfOneMemberDoes() {
        AtomicLong any = new AtomicLong();

        assertThat(chain(counted(any, false), counted(any, true)).checksDeliveries())
                .isTrue();
        assertThat(chain(counted(any, false), counted(any, false)).checksDeliveries())
                .isFalse();
    }

    @Test
    void withoutAuthorizersAllIsOpenButTheBrokersTopics() {
        OpenAuthorizer open = new OpenAuthorizer();

        for (AccessAction action : AccessAction.values()) {
            assertThat(open.authorize(Clients.anonymous(), action, "a/b", QoS.AT_MOST_ONCE, false)
                            .block(SOON))
                    .isEqualTo(AccessDecision.ALLOW);
            assertThat(open.authorize(Clients.anonymous(), action, "$other/a", QoS.AT_MOST_ONCE, false)
                            .block(SOON))
                    .isEqualTo(AccessDecision.ALLOW);
            assertThat(open.authorize(Clients.anonymous(), action, "$event/x", QoS.AT_MOST_ONCE, false)
                            .block(SOON))
                    .isEqualTo(AccessDecision.DENY);
            assertThat(open.authorize(Clients.anonymous(), action, "$CONTROL/x", QoS.AT_MOST_ONCE, false)
                            .block(SOON))
                    .isEqualTo(AccessDecision.DENY);
        }
        assertThat(open.authorize(Clients.anonymous(), AccessAction.SUBSCRIBE, "#", QoS.AT_MOST_ONCE, false)
                        .block(SOON))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(open.checksDeliveries()).isFalse();
    }

    @Test
    void withoutAuthorizersAnybodyReadsSysAndNobodyPublishesThere() {
        OpenAuthorizer open = new OpenAuthorizer();

        assertThat(open.authorize(Clients.anonymous(), AccessAction.SUBSCRIBE, "$SYS/#", QoS.AT_MOST_ONCE, false)
                        .block(SOON))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(open.authorize(
                                Clients.anonymous(),
                                AccessAction.RECEIVE,
                                "$SYS/broker/uptime",
                                QoS.AT_MOST_ONCE,
                                false)
                        .block(SOON))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(open.authorize(
                                Clients.anonymous(),
                                AccessAction.PUBLISH,
                                "$SYS/broker/uptime",
                                QoS.AT_MOST_ONCE,
                                false)
                        .block(SOON))
                .isEqualTo(AccessDecision.DENY);
    }

    @Test
    void theRoleAdminReadsTheBrokersTopicsAndNoMore() {
        OpenAuthorizer open = new OpenAuthorizer();
        ClientIdentity none = Clients.anonymous();
        ClientIdentity admin = new ClientIdentity(
                none.clientId(), "root", none.remoteAddress(), none.listener(), none.version(), Set.of("admin"));

        assertThat(open.authorize(admin, AccessAction.SUBSCRIBE, "$event/#", QoS.AT_MOST_ONCE, false)
                        .block(SOON))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(open.authorize(admin, AccessAction.RECEIVE, "$event/connect", QoS.AT_MOST_ONCE, false)
                        .block(SOON))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(open.authorize(admin, AccessAction.PUBLISH, "$SYS/broker/uptime", QoS.AT_MOST_ONCE, false)
                        .block(SOON))
                .isEqualTo(AccessDecision.DENY);
        assertThat(open.authorize(admin, AccessAction.SUBSCRIBE, "$CONTROL/x", QoS.AT_MOST_ONCE, false)
                        .block(SOON))
                .isEqualTo(AccessDecision.DENY);
    }

    private static AccessDecision decide(Authorizer... members) {
        return chain(members)
                .authorize(Clients.anonymous(), AccessAction.PUBLISH, "a/b", QoS.AT_MOST_ONCE, false)
                .block(SOON);
    }

    private static AuthorizerChain chain(Authorizer... members) {
        return new AuthorizerChain(List.of(members));
    }

    private static Authorizer says(AccessDecision decision) {
        return answers(decision.now());
    }

    private static Authorizer answers(Mono<AccessDecision> answer) {
        return request -> answer;
    }

    private static <T> Mono<T> later(Mono<T> answer) {
        return Mono.delay(Duration.ofMillis(1)).then(answer);
    }

    private static Authorizer counted(AtomicLong generation, boolean checksDeliveries) {
        return new Authorizer() {
            @Override
            public Mono<AccessDecision> authorize(AccessRequest request) {
                return AccessDecision.CONTINUE.now();
            }

            @Override
            public long generation() {
                return generation.get();
            }

            @Override
            public boolean checksDeliveries() {
                return checksDeliveries;
            }
        };
    }
}
