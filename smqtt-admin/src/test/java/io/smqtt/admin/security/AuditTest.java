// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AuditTest {

    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private final Audit audit = new Audit(new AuditSettings(null, 1, 1), () -> "n1", () -> NOW);

    @Test
    void bansOfTheBrokerAreRecordedAsThoseOfPeople() {
        audit.bannedByBroker("flapping", "clientid", "flaps", NOW);

        AuditEntry line = audit.last().get(0);
        assertThat(line.from()).isEqualTo("broker");
        assertThat(line.source()).isEqualTo("flapping");
        assertThat(line.type()).isEqualTo("banned");
        assertThat(line.values()).isEqualTo(Map.of("as", "clientid", "who", "flaps", "until", "2030-01-01T00:00:00Z"));
        assertThat(line.isSuccess()).isTrue();
    }

    @Test
    void aReloadBySignalThatFailedIsAFailure() {
        audit.reloadedBySignal(List.of("/etc/smqtt/users:3: is no user", "/etc/smqtt/acl: cannot be read"));
        audit.reloadedBySignal(List.of());
        audit.reloadedBySignal(Collections.nCopies(1_000, "/etc/smqtt/users:3: is no user"));

        assertThat(audit.last()).extracting(AuditEntry::isSuccess).containsExactly(false, true, false);
        assertThat(audit.last().get(2).toFields())
                .containsEntry("operation_result", "failure")
                .containsEntry("failure", "/etc/smqtt/users:3: is no user; /etc/smqtt/acl: cannot be read");
        assertThat(audit.last().get(0).failure()).hasSize(2_000);
    }

    @Test
    void theyDoNotPushOtherLinesOut() {
        audit.reloadedBySignal(List.of());
        for (int i = 0; i < 2_000; i++) {
            audit.bannedByBroker("refused_logins", "peerhost", "10.0.0." + i, null);
        }

        assertThat(audit.last()).hasSize(21);
        assertThat(audit.last().get(20).from()).isEqualTo("signal");
    }
}
