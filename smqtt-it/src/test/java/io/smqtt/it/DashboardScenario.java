// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A scenario of {@code resources/browser/dashboard.mjs}, with the dashboard of a broker in Chromium. */
final class DashboardScenario {

    /** Where the pictures of the pages are kept; null for no pictures. */
    static final @Nullable String PICTURES = System.getProperty("smqtt.dashboard.pictures");

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String name;
    private final ObjectNode given = JSON.createObjectNode();

    /**
     * A scenario.
     *
     * @param name its name
     * @param broker the broker that serves the page
     * @param token its management token
     */
    DashboardScenario(String name, BrokerProcess broker, String token) {
        this.name = name;
        given("url", "http://127.0.0.1:" + broker.port("management") + "/dashboard/");
        given("token", token);
        given("chromium", ForeignProgram.path("chromium"));
        given("pictures", PICTURES);
    }

    /** Passes a value to the scenario. */
    DashboardScenario given(String key, @Nullable Object value) {
        given.putPOJO(key, value);
        return this;
    }

    /** Runs the scenario, and fails with its output. */
    void run() throws IOException {
        run(process -> {});
    }

    /**
     * Runs the scenario, and fails with its output.
     *
     * @param meanwhile acts while it runs; it may wait for a line of the scenario
     */
    void run(Consumer<Meanwhile> meanwhile) throws IOException {
        ProcessBuilder command = new ProcessBuilder(
                ForeignProgram.path("node"),
                ForeignLibrary.installed("browser/dashboard.mjs").toString(),
                name);
        try (CapturedProcess process = CapturedProcess.start("the dashboard in Chromium", command)) {
            try (OutputStream input = process.process().getOutputStream()) {
                input.write(given.toString().getBytes(StandardCharsets.UTF_8));
            }
            meanwhile.accept(line -> process.awaitLine(line, line::equals, PATIENCE));
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
        }
    }

    /** The scenario while it runs. */
    interface Meanwhile {

        /** Waits until the scenario has printed a line. */
        void await(String line);
    }
}
