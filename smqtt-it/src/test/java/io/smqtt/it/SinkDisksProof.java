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

    @Test
    void nothingIsLostWhileTheDiskOfPostgresqlIsFull() throws Exception {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x")); // for its own user
        try (SmallDisk disk = disk(300);
                DatabaseServer database = DatabaseServer.postgresql(disk.directory())) {
            JdbcSinkIT.run(
                    "postgresql, disk full instead of killed",
                    "postgresql",
                    directory,
                    database,
                    new FilledDisk(disk, database::startIfEnded));
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfMariadbIsFull() throws Exception {
        try (SmallDisk disk = disk(400);
                DatabaseServer database = DatabaseServer.mariadb(disk.directory())) {
            JdbcSinkIT.run(
                    "mariadb, disk full instead of killed",
                    "mariadb",
                    directory,
                    database,
                    new FilledDisk(disk, database::startIfEnded));
        }
    }

    /** The server ends, because it cannot keep what it has to answer. */
    @Test
    void nothingIsLostWhileTheDiskOfRedisThatAnswersLaterIsFull() throws Exception {
        try (SmallDisk disk = disk(256);
                RedisServer redis = RedisServer.stored(disk.directory())) {
            RedisSinkIT.run(
                    "redis (appendfsync always), disk full instead of killed",
                    directory,
                    redis,
                    new FilledDisk(disk, redis::startIfEnded));
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfRedisThatAppendsIsFull() throws Exception {
        try (SmallDisk disk = disk(256);
                RedisServer redis = RedisServer.appending(disk.directory())) {
            RedisSinkIT.run(
                    "redis (appendfsync everysec), disk full instead of killed",
                    directory,
                    redis,
                    new FilledDisk(disk, redis::startIfEnded));
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfRedisThatSavesIsFull() throws Exception {
        try (SmallDisk disk = disk(128);
                RedisServer redis = RedisServer.saving(disk.directory())) {
            RedisSinkIT.run(
                    "redis (save), disk full instead of killed",
                    directory,
                    redis,
                    new FilledDisk(disk, redis::startIfEnded));
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfKafkaIsFull() throws Exception {
        try (SmallDisk disk = disk(256);
                KafkaServer kafka = KafkaServer.lasting(disk.directory())) {
            KafkaSinkIT.run(
                    "kafka, disk full instead of killed", directory, kafka, new FilledDisk(disk, kafka::startIfEnded));
        }
    }

    @Test
    void nothingIsLostWhileTheDiskOfInfluxdbIsFull() throws Exception {
        try (SmallDisk disk = disk(256);
                InfluxdbServer influxdb = InfluxdbServer.start(disk.directory())) {
            InfluxdbSinkProof.run(
                    "influxdb, disk full instead of killed",
                    directory,
                    influxdb,
                    new FilledDisk(disk, influxdb::startIfEnded));
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
