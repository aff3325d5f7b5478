// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sinks of the real program whose servers have a full disk for a while. Needs root, which mounts the disks. */
class SinkDisksProof {

    @TempDir
    Path directory;

    /** Rows are refused, and some servers end: these are started again when there is room. */
    private SmallDisk disk(int megabytes) throws Exception {
        return SmallDisk.at(directory.resolve("disk"), megabytes);
    }

    /** Starts a server whose files are in a directory. */
    private interface Start<S> {

        S in(Path files) throws Exception;
    }

    private void database(String kind, int megabytes, Start<DatabaseServer> start) throws Exception {
        try (SmallDisk disk = disk(megabytes);
                DatabaseServer database = start.in(disk.directory())) {
            JdbcSinkIT.run(
                    kind + ", disk full instead of killed",
                    kind,
                    directory,
                    database,
                    new FilledDisk(disk, database::startIfEnded));
        }
    }

    private void redis(String kind, int megabytes, Start<RedisServer> start) throws Exception {
        try (SmallDisk disk = disk(megabytes);
                RedisServer redis = start.in(disk.directory())) {
            RedisSinkIT.run(
                    "redis (" + kind + "), disk full instead of killed",
                    directory,
                    redis,
                    new FilledDisk(disk, redis::startIfEnded));
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfPostgresqlIsFull() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x")); // for its own user
        database("postgresql", 300, DatabaseServer::postgresql);
    }

    @Test
    void nothingIsLostWhileTheDiskOfMariadbIsFull() throws Exception {
        database("mariadb", 400, DatabaseServer::mariadb);
    }

    /** The server ends, because it cannot keep what it has to answer. */
    @Test
    void nothingIsLostWhileTheDiskOfRedisThatAnswersLaterIsFull() throws Exception {
        redis("appendfsync always", 256, RedisServer::stored);
    }

    @Test
    void nothingIsLostWhileTheDiskOfRedisThatAppendsIsFull() throws Exception {
        redis("appendfsync everysec", 256, RedisServer::appending);
    }

    @Test
    void nothingIsLostWhileTheDiskOfRedisThatSavesIsFull() throws Exception {
        redis("save", 128, RedisServer::saving);
    }

    @Test
    void nothingIsLostWhileTheDiskOfKafkaIsFull() throws Exception {
        try (SmallDisk disk = disk(256);
                KafkaServer kafka = KafkaServer.lasting(disk.directory())) {
            KafkaSinkIT.run(
                    "kafka, disk full instead of killed", directory, kafka, new FilledDisk(disk, kafka::startIfEnded));
        }
    }

    /** The server is restarted when there is room: it answers 500 for the part of the time whose log it could not write, until then. */
    @Test
    void nothingIsLostWhileTheDiskOfInfluxdbIsFull() throws Exception {
        try (SmallDisk disk = disk(256);
                InfluxdbServer influxdb = InfluxdbServer.start(disk.directory())) {
            InfluxdbSinkProof.run(
                    "influxdb, disk full instead of killed", directory, influxdb, new FilledDisk(disk, () -> {
                        influxdb.kill();
                        influxdb.startAgain();
                    }));
        }
    }

    @Test
    void nothingIsLostWhileAnHttpServerAnswersThatItsDiskIsFull() throws Exception {
        Path programs = Files.createDirectory(directory.resolve("programs"));
        try (SmallDisk disk = disk(128);
                HttpSinkProof.Receiver receiver = new HttpSinkProof.Receiver(programs, disk.directory(), 0)) {
            HttpSinkProof.run(
                    "http, disk full (507 and 500) instead of killed",
                    directory,
                    receiver.port(),
                    receiver.file(),
                    new FilledDisk(disk, () -> {}),
                    () -> 0);
        }
    }
}
