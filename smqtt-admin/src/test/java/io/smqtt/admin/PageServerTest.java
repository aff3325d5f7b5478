// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ListenerConfig;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The dashboard at the management port. */
class PageServerTest {

    private static ManagedBroker withWebSocket() {
        return new ManagedBroker(
                builder -> builder.listeners(Map.of(
                        "ws", ListenerConfig.ws(0).toBuilder().host("127.0.0.1").build())),
                management -> management.sysInterval(Duration.ZERO));
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    @Test
    void thePageNeedsNoLoginAndMayUseNothingElse() throws Exception {
        try (ManagedBroker broker = withWebSocket()) {
            int port =
                    Objects.requireNonNull(broker.broker.listeners().get("ws")).getPort();
            HttpResponse<String> page = broker.get("/dashboard/");

            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.body()).contains("<div id=\"page\">");
            assertThat(header(page, "content-type")).isEqualTo("text/html; charset=utf-8");
            assertThat(header(page, "content-security-policy"))
                    .startsWith("default-src 'self'; connect-src 'self' ws://*:" + port + " wss://*:" + port + ";")
                    .contains("frame-ancestors 'none'")
                    .doesNotContain("unsafe");
            assertThat(header(page, "x-content-type-options")).isEqualTo("nosniff");
            assertThat(header(page, "cache-control")).isEqualTo("no-cache");
            assertThat(header(page, "content-encoding")).isEmpty();
        }
    }

    @Test
    void whatTheBrowserHasIsNotSentAgain() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            String tag = header(broker.get("/dashboard/"), "etag");

            assertThat(broker.get("/dashboard/", "If-None-Match", tag).statusCode())
                    .isEqualTo(304);
            assertThat(broker.get("/dashboard/", "If-None-Match", "\"other\"").statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void filesAreSentCompressed() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            HttpResponse<String> page = broker.get("/dashboard/", "Accept-Encoding", "br, gzip");
            HttpResponse<String> plain = broker.get("/dashboard/", "Accept-Encoding", "gzip;q=0");

            assertThat(header(page, "content-encoding")).isEqualTo("gzip");
            assertThat(header(page, "vary")).isEqualTo("Accept-Encoding");
            assertThat(header(plain, "content-encoding")).isEmpty();
        }
    }

    @Test
    void theRootLeadsToThePage() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            for (String path : new String[] {"/", "/dashboard"}) {
                HttpResponse<String> answer = broker.get(path);
                assertThat(answer.statusCode()).isEqualTo(302);
                assertThat(header(answer, "location")).isEqualTo("dashboard/");
            }
        }
    }

    @Test
    void otherFilesAndMethodsAreRefused() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            assertThat(broker.get("/dashboard/%2e%2e/%2e%2e/etc/passwd").statusCode())
                    .isEqualTo(404);
            assertThat(broker.get("/dashboard/assets/none.js").statusCode()).isEqualTo(404);
            assertThat(broker.post("/dashboard/").statusCode()).isEqualTo(405);
        }
    }

    @Test
    void thePageCanBeSwitchedOff() throws Exception {
        try (ManagedBroker broker = new ManagedBroker(
                builder -> builder, management -> management.dashboard(false).sysInterval(Duration.ZERO))) {
            assertThat(broker.get("/dashboard/").statusCode()).isEqualTo(401);
            assertThat(broker.get("/").statusCode()).isEqualTo(401);
        }
    }
}
