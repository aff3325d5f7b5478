// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The users of a password file, immutable. For an unknown user it selects the hash of another user to compute. The selection depends on the
 * user name and on a secret, so an unknown user costs as much as a known one, and always the same, also in a file with several kinds of
 * hashes.
 */
final class PasswordTable {

    private final Map<String, PasswordHash> users;
    private final List<PasswordHash> standIns;
    private final List<PasswordHash.ScramSha256> scramStandIns;

    PasswordTable(Map<String, PasswordHash> users) {
        this.users = Map.copyOf(users);
        List<PasswordHash> all = new ArrayList<>(this.users.values());
        List<PasswordHash.ScramSha256> scram = new ArrayList<>();
        for (PasswordHash hash : all) {
            if (hash instanceof PasswordHash.ScramSha256 credentials) {
                scram.add(credentials);
            }
        }
        byte[] nothing = new byte[PasswordFile.SALT_BYTES];
        if (all.isEmpty()) {
            all.add(PasswordHash.Pbkdf2Sha512.of(nothing, nothing, PasswordFile.DEFAULT_ITERATIONS));
        }
        if (scram.isEmpty()) {
            scram.add(
                    new PasswordHash.ScramSha256(PasswordFile.DEFAULT_ITERATIONS, nothing, new byte[32], new byte[32]));
        }
        standIns = List.copyOf(all);
        scramStandIns = List.copyOf(scram);
    }

    @Nullable
    PasswordHash find(String userName) {
        return users.get(userName);
    }

    /** The users of this table that are missing in another one. */
    Set<String> missingIn(PasswordTable other) {
        Set<String> missing = new HashSet<>(users.keySet());
        missing.removeAll(other.users.keySet());
        return missing;
    }

    /** The hash to compute for an unknown user. */
    PasswordHash standIn(String userName, byte[] secret) {
        return standIns.get(pick(userName, secret, standIns.size()));
    }

    /** The hash whose iterations and salt length a SCRAM client gets for an unknown user. */
    PasswordHash.ScramSha256 scramStandIn(String userName, byte[] secret) {
        return scramStandIns.get(pick(userName, secret, scramStandIns.size()));
    }

    private static int pick(String userName, byte[] secret, int size) {
        byte[] hash = KeyedHash.hmacSha256(secret, userName);
        int number = (hash[0] & 0xFF) << 16 | (hash[1] & 0xFF) << 8 | (hash[2] & 0xFF);
        return number % size;
    }
}
