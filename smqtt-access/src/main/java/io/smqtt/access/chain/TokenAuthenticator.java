// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.thread.AnyThread;
import reactor.core.publisher.Mono;

/**
 * The authentication method {@code OAUTH2-JWT}: the authentication data of CONNECT is a token, and that of a later AUTH is a fresh one, so
 * that the client stays connected when the first one expires. A token takes one step; there are no challenges.
 */
@AnyThread
final class TokenAuthenticator implements EnhancedAuthenticator {

    static final String METHOD = "OAUTH2-JWT";

    private static final Mono<Step> REFUSED = Mono.just(new Step.Failure(ReasonCode.BAD_USER_NAME_OR_PASSWORD));

    private final Authenticator tokens;

    /** Creates the method; the authenticator gets the token as the password of the client. */
    TokenAuthenticator(Authenticator tokens) {
        this.tokens = tokens;
    }

    @Override
    public String method() {
        return METHOD;
    }

    @Override
    public Exchange begin(AuthenticationRequest request) {
        return data -> data == null || data.length == 0
                ? REFUSED
                : tokens.authenticate(with(request, data)).map(TokenAuthenticator::step);
    }

    private static AuthenticationRequest with(AuthenticationRequest request, byte[] token) {
        return new AuthenticationRequest(
                request.clientId(),
                request.userName(),
                token,
                request.remoteAddress(),
                request.listener(),
                request.version(),
                request.certificate(),
                request.userNameFromCertificate(),
                request.local());
    }

    private static Step step(Authentication answer) {
        if (answer instanceof Authentication.Accepted accepted) {
            return new Step.Success(accepted.userName(), accepted.roles(), null, accepted.grants());
        }
        return new Step.Failure(
                answer instanceof Authentication.Refused refused
                        ? refused.reason()
                        : ReasonCode.BAD_USER_NAME_OR_PASSWORD);
    }
}
