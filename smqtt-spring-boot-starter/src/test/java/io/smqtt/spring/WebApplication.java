// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** A web application with a broker in it, its API at {@code /smqtt}, and a client of HTTP that keeps cookies. */
final class WebApplication implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String SECURITY = "org.springframework.boot.security.autoconfigure.";

    private final ConfigurableApplicationContext context;
    private final HttpClient http =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

    private WebApplication(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** What the application has beside the broker. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    /** Users who have the authorities that their names say. */
    @Configuration(proxyBeanMethods = false)
    static class Users {

        private static UserDetails[] users() {
            return new UserDetails[] {
                User.withUsername("admin")
                        .password("{noop}secret")
                        .roles("ADMIN")
                        .build(),
                User.withUsername("reader")
                        .password("{noop}secret")
                        .roles("STAFF")
                        .build(),
                User.withUsername("guest")
                        .password("{noop}secret")
                        .roles("GUEST")
                        .build()
            };
        }

        @Bean
        InMemoryUserDetailsManager servletUsers() {
            return new InMemoryUserDetailsManager(users());
        }

        @Bean
        MapReactiveUserDetailsService reactiveUsers() {
            return new MapReactiveUserDetailsService(users());
        }
    }

    /** An application without Spring Security. */
    static WebApplication open(WebApplicationType type, String... properties) {
        List<String> all = new ArrayList<>(Arrays.asList(properties));
        all.add("spring.autoconfigure.exclude=" + SECURITY + "SecurityAutoConfiguration," + SECURITY
                + "UserDetailsServiceAutoConfiguration," + SECURITY + "ReactiveUserDetailsServiceAutoConfiguration,"
                + SECURITY + "web.servlet.ServletWebSecurityAutoConfiguration," + SECURITY
                + "web.servlet.SecurityFilterAutoConfiguration," + SECURITY
                + "web.reactive.ReactiveWebSecurityAutoConfiguration," + SECURITY
                + "actuate.web.servlet.ManagementWebSecurityAutoConfiguration," + SECURITY
                + "actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration");
        return start(type, new Class<?>[] {Application.class}, all);
    }

    /** An application whose paths all need a login, with roles of the API for two of its users. */
    static WebApplication secured(WebApplicationType type, String... properties) {
        List<String> all = new ArrayList<>(Arrays.asList(properties));
        all.add("smqtt.management.embedded.roles.administrator=ROLE_ADMIN,ROLE_ROOT");
        all.add("smqtt.management.embedded.roles.viewer=ROLE_STAFF");
        return start(type, new Class<?>[] {Application.class, Users.class}, all);
    }

    private static WebApplication start(WebApplicationType type, Class<?>[] sources, List<String> properties) {
        properties.addAll(List.of(
                "server.port=0",
                "server.address=127.0.0.1",
                "spring.main.banner-mode=off",
                "spring.main.cloud-platform=none",
                "logging.level.io.smqtt.admin=info",
                "smqtt.management.embedded.path=/smqtt",
                "smqtt.listeners.tcp.host=127.0.0.1",
                "smqtt.listeners.tcp.port=0",
                "smqtt.listeners.ws.host=127.0.0.1",
                "smqtt.listeners.ws.port=0",
                "smqtt.event-loops=1",
                "smqtt.spring.stop-timeout=1s"));
        return new WebApplication(new SpringApplicationBuilder(sources)
                .web(type)
                .properties(properties.toArray(String[]::new))
                .run());
    }

    ConfigurableApplicationContext context() {
        return context;
    }

    int port() {
        return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    RawClient client(String clientId) {
        RawClient client = Contexts.client(context);
        client.connect(clientId);
        return client;
    }

    static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
    }

    HttpResponse<String> get(String path, String... headers) {
        return send("GET", path, "", headers);
    }

    HttpResponse<String> send(String method, String path, String body, String... headers) {
        return send(request(method, path, body, headers), HttpResponse.BodyHandlers.ofString());
    }

    /** Sends a form of the application itself. */
    HttpResponse<String> form(String path, String fields) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .timeout(PATIENCE)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(fields))
                .build();
        return send(request, HttpResponse.BodyHandlers.ofString());
    }

    <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> body) {
        try {
            return http.send(request, body);
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    HttpRequest request(String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .timeout(PATIENCE)
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }

    @Override
    public void close() {
        context.close();
    }
}
