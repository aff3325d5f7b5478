// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.GuardedAnswer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Mono;

/**
 * Asks authenticators in order; the first answer other than CONTINUE decides. Without one the client is refused: with 0x86 if it sent a
 * user name, with 0x87 if it sent none, because then the credentials are missing rather than wrong. After an error or an empty answer
 * the client is refused with server unavailable.
 */
final class AuthenticatorChain implements Authenticator {

    private static final Logger LOG = LoggerFactory.getLogger(AuthenticatorChain.class);
    private static final String KEY = "authenticators";
    private static final Authentication UNAVAILABLE = new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE);
    private static final Authentication ANONYMOUS_REFUSED = new Authentication.Refused(ReasonCode.NOT_AUTHORIZED);

    private final List<Authenticator> members;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    AuthenticatorChain(List<Authenticator> members) {
        this.members = List.copyOf(members);
    }

    @Override
    public Mono<Authentication> authenticate(AuthenticationRequest request) {
        return ask(0, request);
    }

    private Mono<Authentication> ask(int first, AuthenticationRequest request) {
        for (int i = first; i < members.size(); i++) {
            Mono<Authentication> answer = answer(members.get(i), request);
            if (!(answer instanceof Callable<?> finished)) {
                return wait(answer, i + 1, request);
            }
            Authentication authentication = read(finished);
            if (!(authentication instanceof Authentication.Continue)) {
                return authentication.now();
            }
        }
        return (request.userName() == null ? ANONYMOUS_REFUSED : Authentication.refused()).now();
    }

    private Mono<Authentication> wait(Mono<Authentication> answer, int next, AuthenticationRequest request) {
        return GuardedAnswer.of(answer)
                .onErrorResume(error -> Mono.just(unavailable(error)))
                .defaultIfEmpty(UNAVAILABLE)
                .flatMap(made -> made instanceof Authentication.Continue ? ask(next, request) : made.now());
    }

    private Mono<Authentication> answer(Authenticator member, AuthenticationRequest request) {
        try {
            return Objects.requireNonNull(member.authenticate(request));
        } catch (RuntimeException | LinkageError | StackOverflowError | AssertionError e) {
            return unavailable(e).now();
        }
    }

    private Authentication read(Callable<?> finished) {
        try {
            @Nullable Object authentication = finished.call();
            return authentication instanceof Authentication made ? made : UNAVAILABLE;
        } catch (Exception | LinkageError | StackOverflowError | AssertionError e) {
            return unavailable(e);
        }
    }

    private Authentication unavailable(Throwable error) {
        if (lines.allows(KEY)) {
            LOG.warn("an authenticator failed; the client is refused", error);
        }
        return UNAVAILABLE;
    }
}
