// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AddressedLogTest {

    @TempDir
    private Path directory;

    private RocksRaftLog log(String name) {
        RocksRaftLog log = new RocksRaftLog(false, failure -> {});
        log.init(directory.resolve(name).toString(), null);
        return log;
    }

    private static ExtendedUUID address(RocksRaftLog log, int group) {
        ExtendedUUID address = ExtendedUUID.randomUUID().put(RAFT.raft_id_key, Util.stringToBytes("c"));
        new AddressedLog(log, group).describe(address);
        return address;
    }

    @Test
    void aNewLogShowsItsIdentityAndIsOfNoOtherCluster() throws IOException {
        try (RocksRaftLog own = log("own");
                RocksRaftLog fresh = log("fresh")) {
            own.found(Set.of(own.identity(), -5L));
            AddressedLog seen = new AddressedLog(own, 3);
            assertThat(seen.newIdentity(address(fresh, 3))).isEqualTo(fresh.identity());
            assertThat(seen.isForeign(address(fresh, 3))).isFalse();
            assertThat(new AddressedLog(fresh, 3).isForeign(address(own, 3))).isFalse();
        }
    }

    @Test
    void theLogOfAnotherClusterIsForeign() throws IOException {
        try (RocksRaftLog own = log("own");
                RocksRaftLog same = log("same");
                RocksRaftLog other = log("other")) {
            own.found(Set.of(own.identity(), same.identity()));
            same.becomeVoterOf(own.group());
            other.found(Set.of(1L, 2L, 3L));
            AddressedLog seen = new AddressedLog(own, 3);
            assertThat(seen.newIdentity(address(same, 3))).isNull();
            assertThat(seen.isForeign(address(same, 3))).isFalse();
            assertThat(seen.isForeign(address(other, 3))).isTrue();
            assertThat(seen.isForeign(address(other, 4))).isFalse();
        }
    }

    /** A disk that was replaced comes back: with its vote, or as one that is new again. */
    @Test
    void aLogInWhosePlaceAnotherOneWasAdmittedIsReplaced() throws IOException {
        try (RocksRaftLog own = log("own");
                RocksRaftLog former = log("former");
                RocksRaftLog current = log("current");
                RocksRaftLog next = log("next")) {
            ExtendedUUID whileNew = address(former, 3);
            own.found(Set.of(own.identity(), former.identity()));
            former.becomeVoterOf(own.group());
            AddressedLog seen = new AddressedLog(own, 3);
            assertThat(seen.isReplaced(address(former, 3))).isFalse();
            own.know(KnownLogs.NONE.with(1, Map.of("c", former.identity())).with(1, Map.of("c", current.identity())));
            assertThat(seen.isReplaced(address(current, 3))).isFalse();
            current.becomeVoterOf(own.group());

            assertThat(seen.isReplaced(address(current, 3))).isFalse();
            assertThat(seen.isReplaced(address(former, 3))).isTrue();
            assertThat(seen.isReplaced(whileNew)).isTrue();
            assertThat(seen.isReplaced(address(next, 3))).isFalse(); // to be admitted
            assertThat(seen.isReplaced(address(former, 4))).isFalse();
        }
    }
}
