// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackend.Ability;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.guard.Guard;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.EnhancedAuthenticator.Step;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class TokenAuthenticatorTest {

    private static final Instant END = Instant.parse("2100-01-01T00:00:00Z");

    /** Knows one word. */
    private record Words(String word, Set<Ability> abilities) implements AccessBackend {

        @Override
        public Mono<BackendAnswer> authenticate(BackendRequest request) {
            return Mono.just(
                    word.equals(request.passwordText())
                            ? new BackendAnswer.Allow(false, Map.of(), END, null)
                            : BackendAnswer.NOT_MINE);
        }

        @Override
        public void close() {}
    }

    private static Member member(String name, Ability... abilities) {
        AccessBackendConfig config = AccessBackendConfig.builder("x").build();
        Guard guard = new Guard(name, config, Ticker.SYSTEM, new LifecycleObserver() {});
        return new Member(name, config, new Words(name, Set.of(abilities)), guard);
    }

    private final Map<String, Member> members = Map.of(
            "people", member("people", Ability.USERS),
            "tokens", member("tokens", Ability.USERS, Ability.TOKENS),
            "others", member("others", Ability.USERS, Ability.TOKENS));
    private final ChainAuthenticator chain = new ChainAuthenticator(
            List.of("people", "tokens", "others"),
            members,
            Map.of(),
            listener -> Duration.ofSeconds(20),
            Schedulers.parallel());
    private final TokenAuthenticator authenticator = new TokenAuthenticator(chain.ofTokens());

    private Step step(@Nullable String userName, @Nullable String data) {
        AuthenticationRequest request = new AuthenticationRequest(
                "c",
                userName,
                "people".getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.1", 5),
                "tcp",
                ProtocolVersion.MQTT_5,
                null,
                false);
        Step step = authenticator
                .begin(request)
                .next(data == null ? null : data.getBytes(StandardCharsets.UTF_8))
                .block(Duration.ofSeconds(20));
        assertThat(step).isNotNull();
        return step;
    }

    @Test
    void aTokenIsCheckedByTheBackendsOfTokensUntilItEnds() {
        assertThat(authenticator.method()).isEqualTo("OAUTH2-JWT");
        for (String token : List.of("tokens", "others")) {
            assertThat(step("ann", token)).isInstanceOfSatisfying(Step.Success.class, success -> {
                assertThat(success.userName()).isEqualTo("ann");
                assertThat(success.grants().validUntil()).isEqualTo(END);
            });
        }
        assertThat(step(null, "tokens"))
                .isInstanceOfSatisfying(
                        Step.Success.class,
                        success -> assertThat(success.userName()).isNull());
    }

    @Test
    void noTokenAndOneThatNoneOfThemKnowsAreRefused() {
        Step refused = new Step.Failure(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
        for (String data : new String[] {null, "", "guess", "people"}) {
            assertThat(step("ann", data)).as(data).isEqualTo(refused);
        }
    }

    @Test
    void withoutBackendsOfTokensThereIsNobodyToAsk() {
        assertThat(chain.ofTokens().isEmpty()).isFalse();
        assertThat(new ChainAuthenticator(
                                List.of("people"),
                                members,
                                Map.of(),
                                listener -> Duration.ofSeconds(20),
                                Schedulers.parallel())
                        .ofTokens()
                        .isEmpty())
                .isTrue();
    }
}
