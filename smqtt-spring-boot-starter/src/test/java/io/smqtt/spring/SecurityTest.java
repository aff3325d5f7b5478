// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.InternalAuthenticationServiceException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import reactor.core.Disposable;

/** Spring Security decides on clients, beside the event loops. */
@Timeout(120)
class SecurityTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static AuthenticationRequest request(String user, String password) {
        return new AuthenticationRequest(
                "c",
                user,
                password == null ? null : password.getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("127.0.0.1", 1),
                "tcp",
                ProtocolVersion.MQTT_5,
                null,
                false);
    }

    private static org.springframework.security.core.Authentication decide(
            org.springframework.security.core.Authentication token) {
        if (token.getName().equals("broken")) {
            throw new InternalAuthenticationServiceException("as wanted by the test");
        } else if (!"secret".equals(token.getCredentials())) {
            throw new BadCredentialsException("wrong");
        }
        return UsernamePasswordAuthenticationToken.authenticated(
                token.getName(), null, AuthorityUtils.createAuthorityList("ROLE_admin", "read"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Manager {

        final List<String> threads = new CopyOnWriteArrayList<>();

        @Bean
        AuthenticationManager manager() {
            return token -> {
                threads.add(Thread.currentThread().getName());
                return decide(token);
            };
        }
    }

    @Test
    void theManagerDecides() {
        Contexts.runner()
                .withUserConfiguration(Manager.class)
                .withPropertyValues("smqtt.spring.security=true")
                .run(context -> {
                    SecurityAuthenticator authenticator = context.getBean(SecurityAuthenticator.class);

                    assertThat(authenticator
                                    .authenticate(request("u", "secret"))
                                    .block(PATIENCE))
                            .isEqualTo(new Authentication.Accepted("u", Set.of("admin", "read")));
                    assertThat(authenticator.authenticate(request("u", "other")).block(PATIENCE))
                            .isEqualTo(Authentication.refused());
                    assertThat(authenticator
                                    .authenticate(request("broken", "x"))
                                    .block(PATIENCE))
                            .isEqualTo(new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE));
                    assertThat(authenticator.authenticate(request(null, null)).block(PATIENCE))
                            .isEqualTo(Authentication.CONTINUE);
                    assertThat(context.getBean(Manager.class).threads)
                            .hasSize(3)
                            .allSatisfy(name -> assertThat(name).startsWith("smqtt-authentication"));
                });
    }

    @Test
    void itIsNotAskedUnlessThatIsWanted() {
        Contexts.runner()
                .withUserConfiguration(Manager.class)
                .run(context -> assertThat(context).doesNotHaveBean(SecurityAuthenticator.class));
    }

    @Test
    void withoutAManagerTheStartEnds() {
        Contexts.runner()
                .withPropertyValues("smqtt.spring.security=true")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("spring.security needs a bean of the type AuthenticationManager"));
    }

    @Test
    void moreThanCanWaitAreRefusedAsBusy() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        SecurityAuthenticator authenticator = new SecurityAuthenticator(
                token -> {
                    entered.countDown();
                    try {
                        leave.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return decide(token);
                },
                1,
                1);
        Disposable first = authenticator.authenticate(request("u", "secret")).subscribe();
        entered.await();
        Disposable second = authenticator.authenticate(request("u", "secret")).subscribe();

        assertThat(authenticator.authenticate(request("u", "secret")).block(PATIENCE))
                .isEqualTo(new Authentication.Refused(ReasonCode.SERVER_BUSY));

        leave.countDown();
        first.dispose();
        second.dispose();
        authenticator.dispose();
    }
}
