// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The dashboard of one of two real nodes, in Chromium: it shows and steers both, and says what is missing when the other one is killed. */
class DashboardClusterIT {

    @TempDir
    Path directory;

    private DashboardScenario scenario(String name, LoopbackCluster nodes) throws IOException {
        String token =
                Files.readString(directory.resolve("n0/data/management.token")).strip();
        return new DashboardScenario(name, nodes.broker(0), token);
    }

    @Test
    void aPageShowsBothNodesAndSaysWhatIsMissingWhenOneIsKilled() throws Exception {
        try (LoopbackCluster nodes = LoopbackCluster.start(directory, 2);
                RawClient near = nodes.client(0, "near");
                RawClient far = nodes.client(1, "far");
                RawClient other = nodes.client(1, "other")) {
            near.subscribe("fleet/near", 1);
            far.subscribe("fleet/far", 1);
            other.subscribe("fleet/other", 1);

            scenario("cluster", nodes).run(page -> {
                page.await("kicked");
                far.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
                nodes.broker(1).kill9();
            });
        }
    }
}
