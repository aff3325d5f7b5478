// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.EnhancedAuthenticator;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Lets clients wait between the moment in which the listeners are bound and that in which the listener methods have their
 * subscriptions, so that nothing is published to nobody. Open for good after that.
 */
final class Gate implements Authenticator {

    private static final Mono<Authentication> PASS = Authentication.CONTINUE.now();

    private final Sinks.Empty<Authentication> opened = Sinks.empty();
    private volatile boolean open;

    @Override
    public Mono<Authentication> authenticate(AuthenticationRequest request) {
        return open ? PASS : opened.asMono().switchIfEmpty(PASS);
    }

    /** Lets clients with enhanced authentication wait too: these are asked of nobody else. */
    EnhancedAuthenticator before(EnhancedAuthenticator authenticator) {
        return new EnhancedAuthenticator() {
            @Override
            public String method() {
                return authenticator.method();
            }

            @Override
            public Exchange begin(AuthenticationRequest request) {
                Exchange exchange = authenticator.begin(request);
                return data -> open ? exchange.next(data) : opened.asMono().then(Mono.defer(() -> exchange.next(data)));
            }
        };
    }

    void open() {
        open = true;
        opened.tryEmitEmpty();
    }
}
