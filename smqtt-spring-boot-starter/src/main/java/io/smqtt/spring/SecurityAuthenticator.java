// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.InternalAuthenticationServiceException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.AuthenticationException;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Asks the authentication manager of the application about clients that send a user name and a password, on threads of its
 * own. Authorities are roles; {@code ROLE_} in front of them is left out.
 */
final class SecurityAuthenticator implements Authenticator, Disposable {

    private static final Logger LOG = LoggerFactory.getLogger(SecurityAuthenticator.class);
    private static final String ROLE = "ROLE_";
    private static final int IDLE_SECONDS = 30;

    private final AuthenticationManager manager;
    private final Scheduler scheduler;

    SecurityAuthenticator(AuthenticationManager manager, int threads, int queue) {
        this.manager = manager;
        scheduler = Schedulers.newBoundedElastic(
                threads, Math.max(1, queue / threads), "smqtt-authentication", IDLE_SECONDS, true);
    }

    @Override
    public Mono<Authentication> authenticate(AuthenticationRequest request) {
        String user = request.userName();
        byte[] password = request.password();
        if (user == null || password == null || request.userNameFromCertificate()) {
            return Authentication.CONTINUE.now();
        }
        String secret = new String(password, StandardCharsets.UTF_8);
        return Mono.fromCallable(() -> ask(user, secret))
                .subscribeOn(scheduler)
                .onErrorReturn(RejectedExecutionException.class, new Authentication.Refused(ReasonCode.SERVER_BUSY));
    }

    private Authentication ask(String user, String secret) {
        try {
            org.springframework.security.core.Authentication result =
                    manager.authenticate(UsernamePasswordAuthenticationToken.unauthenticated(user, secret));
            if (result == null || !result.isAuthenticated()) {
                return Authentication.refused();
            }
            Set<String> roles = result.getAuthorities().stream()
                    .map(authority -> String.valueOf(authority.getAuthority()))
                    .map(name -> name.startsWith(ROLE) ? name.substring(ROLE.length()) : name)
                    .collect(Collectors.toUnmodifiableSet());
            return new Authentication.Accepted(result.getName(), roles);
        } catch (InternalAuthenticationServiceException e) {
            LOG.warn("the authentication manager failed", e);
            return new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE);
        } catch (AuthenticationException e) {
            LOG.debug("refused: {}", e.getMessage());
            return Authentication.refused();
        }
    }

    /** Ends the threads. Called by Spring. */
    @Override
    public void dispose() {
        scheduler.dispose();
    }
}
