// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Authenticator;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class AuthenticatorChainTest {

    private static final Duration SOON = Duration.ofSeconds(5);
    private static final Authentication ALICE = Authentication.accepted("alice");
    private static final Authentication UNAVAILABLE = new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE);

    @Test
    void firstAnswerThatIsNotContinueCounts() {
        assertThat(ask("alice", says(Authentication.CONTINUE), says(ALICE), says(Authentication.refused())))
                .isEqualTo(ALICE);
        assertThat(ask("alice", says(Authentication.refused()), says(ALICE))).isEqualTo(Authentication.refused());
    }

    @Test
    void withoutAnswerAUserIsRefusedAsBadAndAnAnonymousClientAsNotAuthorized() {
        assertThat(ask("alice", says(Authentication.CONTINUE)))
                .isEqualTo(new Authentication.Refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD));
        assertThat(ask(null, says(Authentication.CONTINUE)))
                .isEqualTo(new Authentication.Refused(ReasonCode.NOT_AUTHORIZED));
    }

    @Test
    void errorEmptyAnswerAndExceptionRefuseAsServerUnavailable() {
        assertThat(ask("alice", answers(Mono.error(new IllegalStateException("down"))), says(ALICE)))
                .isEqualTo(UNAVAILABLE);
        assertThat(ask("alice", answers(Mono.empty()), says(ALICE))).isEqualTo(UNAVAILABLE);
        assertThat(ask("alice", request -> {
                    throw new IllegalStateException("down");
                }))
                .isEqualTo(UNAVAILABLE);
        assertThat(ask("alice", request -> null)).isEqualTo(UNAVAILABLE);
    }

    @Test
    void errorAndEmptyAnswerThatComeLaterRefuseAsServerUnavailable() {
        assertThat(ask("alice", answers(later(Mono.error(new IllegalStateException("down")))), says(ALICE)))
                .isEqualTo(UNAVAILABLE);
        assertThat(ask("alice", answers(later(Mono.empty())), says(ALICE))).isEqualTo(UNAVAILABLE);
    }

    @Test
    void goesOnAfterAnAnswerThatTakesTime() {
        assertThat(ask("alice", answers(later(Mono.just(Authentication.CONTINUE))), says(ALICE)))
                .isEqualTo(ALICE);
        assertThat(ask("alice", answers(later(Mono.just(ALICE))), says(Authentication.refused())))
                .isEqualTo(ALICE);
    }

    private static @Nullable Authentication ask(@Nullable String userName, Authenticator... members) {
        return new AuthenticatorChain(List.of(members))
                .authenticate(Clients.login(userName, "secret"))
                .block(SOON);
    }

    private static Authenticator says(Authentication answer) {
        return answers(Mono.just(answer));
    }

    private static Authenticator answers(Mono<Authentication> answer) {
        return request -> answer;
    }

    private static <T> Mono<T> later(Mono<T> answer) {
        return Mono.delay(Duration.ofMillis(1)).then(answer);
    }
}
