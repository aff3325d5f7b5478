// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.account.Credentials;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.ProblemException;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.broker.NodeCalls;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The routes of an application whose SLF4J does not write to logback. */
class OtherBackendTest {

    @Test
    void everyRouteSaysThatLevelsCannotBeSet() {
        BrokerView view = new BrokerView();
        LoggerRoutes routes =
                new LoggerRoutes(view, new NodeCalls(view), new LogLevelChanges(), () -> null, InstantSource.system());

        assertThat(routes.routes())
                .hasSize(3)
                .allSatisfy(route -> assertThatThrownBy(
                                () -> route.handler().answer(request(route)).block())
                        .isInstanceOfSatisfying(
                                ProblemException.class,
                                error -> assertThat(error.problem().status()).isEqualTo(501)));
    }

    private static ApiRequest request(Route route) {
        return new ApiRequest(
                route,
                null,
                new Credentials(null, new InetSocketAddress("127.0.0.1", 1), null, null, null),
                Map.of("name", "ROOT"),
                Map.of(),
                "{\"configuredLevel\":\"INFO\"}".getBytes(StandardCharsets.UTF_8));
    }
}
