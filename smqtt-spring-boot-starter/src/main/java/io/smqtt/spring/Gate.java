// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
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

    void open() {
        open = true;
        opened.tryEmitEmpty();
    }
}
