// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.net.ConnectException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisFailureTest {

    @ParameterizedTest
    @CsvSource({
        "OOM command not allowed when used memory > 'maxmemory'., true",
        "LOADING Redis is loading the dataset in memory, true",
        "MOVED 3999 127.0.0.1:6381, true",
        "READONLY You can't write against a read only replica., true",
        "CLUSTERDOWN The cluster is down, true",
        "MISCONF Redis is configured to save RDB snapshots, true",
        "NOAUTH Authentication required., true",
        "WRONGTYPE Operation against a key holding the wrong kind of value, false",
        "ERR value is not an integer or out of range, false",
        "NOSCRIPT No matching script. Please use EVAL., true",
        "NOPERM User default has no permissions to run the 'xadd' command, true",
        "NOPERM No permissions to access a key, true",
        "CROSSSLOT Keys in request don't hash to the same slot, false",
    })
    void onlyErrorsOfTheCommandAreItsOwn(String message, boolean mayPass) {
        assertThat(RedisFailure.of(new RedisCommandExecutionException(message)).mayPass())
                .isEqualTo(mayPass);
    }

    @Test
    void keyOfARowWithoutPermissionIsAFailureOfThatRow() {
        assertThat(RedisFailure.of(new RedisCommandExecutionException("NOPERM No permissions to access a key"), false)
                        .mayPass())
                .isFalse();
        assertThat(RedisFailure.of(
                                new RedisCommandExecutionException(
                                        "NOPERM User default has no permissions to run the 'xadd' command"),
                                false)
                        .mayPass())
                .isTrue();
    }

    @Test
    void reasonHasNoValueOfARow() {
        assertThat(RedisFailure.of(new RedisCommandExecutionException(
                                "ERR unknown command 'XAD', with args beginning with: 's3cret' "))
                        .reason())
                .isEqualTo("ERR unknown command …");
    }

    @Test
    void lostConnectionMayPass() {
        RedisFailure failure =
                RedisFailure.of(new RedisException("Cannot connect", new ConnectException("Connection refused")));

        assertThat(failure.mayPass()).isTrue();
        assertThat(failure.reason()).isEqualTo("no answer: Connection refused");
    }
}
