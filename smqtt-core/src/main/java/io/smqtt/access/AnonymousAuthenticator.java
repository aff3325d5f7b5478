// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.config.AnonymousAccess;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import reactor.core.publisher.Mono;

/**
 * Accepts clients without authentication: all, none, or those on this machine ({@link AuthenticationRequest#local()}).
 *
 * <p>On a broker without authentication, a client that sends a user name could as well send none. It is accepted in the same way, as the
 * same anonymous client: a user name that was not verified never becomes an identity.
 */
final class AnonymousAuthenticator implements Authenticator {

    private static final Mono<Authentication> ACCEPTED =
            Authentication.accepted(null).now();
    private static final Mono<Authentication> CONTINUE = Authentication.CONTINUE.now();

    private final AnonymousAccess access;
    private final boolean ignoresUserName;

    AnonymousAuthenticator(AnonymousAccess access, boolean ignoresUserName) {
        this.access = access;
        this.ignoresUserName = ignoresUserName;
    }

    @Override
    public Mono<Authentication> authenticate(AuthenticationRequest request) {
        boolean anonymous = request.userName() == null || ignoresUserName;
        return anonymous && isOpenTo(request) ? ACCEPTED : CONTINUE;
    }

    private boolean isOpenTo(AuthenticationRequest request) {
        return switch (access) {
            case TRUE -> true;
            case FALSE -> false;
            case LOOPBACK -> request.local();
        };
    }
}
