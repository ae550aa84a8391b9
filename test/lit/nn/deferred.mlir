// RUN: trainc-opt %s | FileCheck %s
// RUN: trainc-opt %s | trainc-opt | FileCheck %s

// In blocks and models no types are spelled.

// CHECK-LABEL: nn.block @all(%{{.*}}: tensor<?x?x8xf32>, %{{.*}}: tensor<?x?xi32>)
nn.block @all(%x: tensor<?x?x8xf32>, %ids: tensor<?x?xi32>) {
  // CHECK-NEXT: %[[A:.*]] = nn.relu %{{[a-z0-9]+}}{{$}}
  %a = nn.relu %x
  // CHECK-NEXT: nn.gelu %[[A]] approximate tanh{{$}}
  %b = nn.gelu %a approximate tanh
  // CHECK-NEXT: %[[HALF:.*]] = nn.constant 0.5{{$}}
  %half = nn.constant 0.5
  // CHECK-NEXT: nn.mul %{{.*}}, %[[HALF]]{{$}}
  %c = nn.mul %b, %half
  // CHECK-NEXT: nn.compare gt %{{.*}}, %[[HALF]]{{$}}
  %d = nn.compare gt %c, %half
  // CHECK-NEXT: nn.select %{{.*}}, %{{.*}}, %[[HALF]]{{$}}
  %e = nn.select %d, %c, %half
  // CHECK-NEXT: nn.convert %{{.*}} to f32{{$}}
  %f = nn.convert %e to f32
  // CHECK-NEXT: nn.reduce mean %{{.*}} over [-1] keep{{$}}
  %g = nn.reduce mean %f over [-1] keep
  // CHECK-NEXT: nn.broadcast %{{.*}} to [2, 3, 8]{{$}}
  %h = nn.broadcast %g to [2, 3, 8]
  // CHECK-NEXT: nn.reshape %{{.*}} to [0, -1]{{$}}
  %i = nn.reshape %h to [0, -1]
  // CHECK-NEXT: nn.transpose %{{.*}} by [1, 0]{{$}}
  %j = nn.transpose %i by [1, 0]
  // CHECK-NEXT: nn.slice %{{.*}} dim 0 from 1 size 2{{$}}
  %k = nn.slice %j dim 0 from 1 size 2
  // CHECK-NEXT: nn.pad %{{.*}} dim -1 low 1 high 0{{$}}
  %l = nn.pad %k dim -1 low 1 high 0
  // CHECK-NEXT: nn.concat dim 0 %{{.*}}, %{{.*}}{{$}}
  %m = nn.concat dim 0 %l, %l
  // CHECK-NEXT: nn.matmul %{{.*}}, %{{.*}} transposed{{$}}
  %n = nn.matmul %m, %m transposed
  // CHECK-NEXT: nn.gather %{{.*}} at %{{[a-z0-9]+}}{{$}}
  %o = nn.gather %n at %ids
  // CHECK-NEXT: %{{.*}}, %{{.*}} = nn.attention %{{.*}}, %{{.*}}, %{{.*}} heads 4 kv_heads 2 causal segments %{{[a-z0-9]+}}{{$}}
  %p, %lse = nn.attention %o, %o, %o heads 4 kv_heads 2 causal segments %ids
  // CHECK-NEXT: nn.return %{{[a-z0-9]+}}{{$}}
  nn.return %p
}
