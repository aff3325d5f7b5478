// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The limit that {@code storage.max-bytes} sets is a full disk that needs no rights to make. */
class FullDiskIT {

    private static final Duration BACK_WITHIN = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void pastItsLimitTheBrokerRefusesAndComesBackWhenASessionEnds() {
        new FullDisk()
                .run(
                        directory,
                        broker -> {
                            try (RawClient client = RawClient.to(broker, ProtocolVersion.MQTT_5)) {
                                client.connect(ConnectBytes.of(FullDisk.HOG).cleanStart(true)); // its messages go
                            }
                        },
                        BACK_WITHIN,
                        "storage.max-bytes=24MiB",
                        "storage.write-buffer-bytes=2MiB");
    }
}
