// Command client drives a MinIO server: put writes objects, get reads and compares them, heal repairs all drives.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"time"

	"github.com/minio/madmin-go/v3"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const bucket, user, password = "bucket", "gfsmith-user", "gfsmith-password"

var sizes = []int{1, 1000, 200_000, 1 << 20, 5<<20 + 1, 12_345_678}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// content returns the bytes of an object.
func content(n int) []byte {
	made := make([]byte, sizes[n])
	rand.New(rand.NewSource(int64(n))).Read(made)
	return made
}

func main() {
	ctx, endpoint := context.Background(), os.Args[2]
	client, err := minio.New(endpoint, &minio.Options{Creds: credentials.NewStaticV4(user, password, "")})
	check(err)
	switch os.Args[1] {
	case "put":
		put(ctx, client)
	case "get":
		get(ctx, client)
	case "heal":
		admin, err := madmin.New(endpoint, user, password, false)
		check(err)
		heal(ctx, admin)
	}
}

func put(ctx context.Context, client *minio.Client) {
	check(client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{}))
	for n, size := range sizes {
		options := minio.PutObjectOptions{DisableMultipart: true}
		_, err := client.PutObject(ctx, bucket, fmt.Sprint("object", n), bytes.NewReader(content(n)), int64(size), options)
		check(err)
	}
}

func get(ctx context.Context, client *minio.Client) {
	for n := range sizes {
		object, err := client.GetObject(ctx, bucket, fmt.Sprint("object", n), minio.GetObjectOptions{})
		check(err)
		found, err := io.ReadAll(object)
		check(err)
		if !bytes.Equal(found, content(n)) {
			check(fmt.Errorf("object%d: other bytes", n))
		}
	}
}

// heal starts a repair and waits for its end.
func heal(ctx context.Context, admin *madmin.AdminClient) {
	options := madmin.HealOpts{Recursive: true, ScanMode: madmin.HealDeepScan}
	started, _, err := admin.Heal(ctx, bucket, "", options, "", true, false)
	check(err)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		_, status, err := admin.Heal(ctx, bucket, "", options, started.ClientToken, false, false)
		check(err)
		if status.Summary == "finished" {
			return
		}
		if status.Summary == "stopped" || time.Now().After(deadline) {
			check(fmt.Errorf("heal: %s %s", status.Summary, status.FailureDetail))
		}
	}
}
