// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WebSocketRulesTest {

    private final WebSocketRules rules = new WebSocketRules("/mqtt", List.of(), "broker.lan");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "localhost:8083",
                "LOCALHOST.",
                "app.localhost:1",
                "127.0.0.1",
                "127.9.9.9:8083",
                "[::1]:8083",
                "broker.lan:8083"
            })
    void aProgramThatAsksForThisMachineIsLocal(String host) {
        assertThat(isLocal(rules, request(host))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"evil.example:8083", "192.168.1.9", "127.0.0.1.evil.example", "localhost.evil.example", "", "["})
    void whoAsksForAnotherHostIsNotLocal(String host) {
        assertThat(isLocal(rules, request(host))).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:8083, http://localhost:3000",
        "127.0.0.1:8083, http://localhost",
        "[::1]:8083, http://127.0.0.1:8080",
        "localhost, HTTP://LOCALHOST",
    })
    void aPageOfThisMachineIsLocal(String host, String origin) {
        HttpRequest request = request(host);
        request.headers().add("Origin", origin);

        assertThat(isLocal(rules, request)).isTrue();
    }

    @Test
    void aPageOfANameThatWasMadeToLeadHereIsLetInButNotLocal() {
        HttpRequest request = request("evil.example:8083");
        request.headers().add("Origin", "http://evil.example:8083");

        assertThat(isLocal(rules, request)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://evil.example",
                "http://localhost.evil.example",
                "http://localhost@evil.example",
                "null",
                "",
                "//localhost"
            })
    void aPageOfAnotherHostIsRefused(String origin) {
        HttpRequest request = request("localhost:8083");
        request.headers().add("Origin", origin);

        assertThat(rules.check(request)).isInstanceOf(WebSocketRules.Refused.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "https://app.example"})
    void aPageOfAnAllowedOriginIsLetInButNotLocal(String allowed) {
        HttpRequest request = request("localhost:8083");
        request.headers().add("Origin", "https://app.example");

        assertThat(isLocal(new WebSocketRules("/mqtt", List.of(allowed), "0.0.0.0"), request))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Real-IP", "Via"})
    void whatAProxyHasHandedOnIsNotLocal(String header) {
        HttpRequest request = request("localhost:8083");
        request.headers().add(header, "127.0.0.1");

        assertThat(isLocal(rules, request)).isFalse();
    }

    @Test
    void twoHostsAreNone() {
        HttpRequest request = request("localhost");
        request.headers().add("Host", "evil.example");

        assertThat(rules.check(request)).isInstanceOf(WebSocketRules.Refused.class);
    }

    private static boolean isLocal(WebSocketRules rules, HttpRequest request) {
        WebSocketRules.Verdict verdict = rules.check(request);
        assertThat(verdict).isInstanceOf(WebSocketRules.Accepted.class);
        return ((WebSocketRules.Accepted) verdict).local();
    }

    private static HttpRequest request(String host) {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/mqtt");
        request.headers()
                .add("Host", host)
                .add("Upgrade", "websocket")
                .add("Connection", "Upgrade")
                .add("Sec-WebSocket-Version", "13")
                .add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
                .add("Sec-WebSocket-Protocol", "mqtt");
        return request;
    }
}
